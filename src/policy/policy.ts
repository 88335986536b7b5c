/**
 * The control plane: no call has an effect without a ruling from a policy.
 *
 * A policy is an immutable value. Create a new policy if the mode, the rules or the surfaces change.
 */
import type { AgentMode } from '../protocol/permission/permission-mode.js';
import type { PermissionRule } from '../protocol/permission/permission-rule.js';
import type { HookOpinion, PermissionRequest, Ruling } from '../protocol/permission/ruling.js';
import type { SafetyFinding } from '../protocol/tools/tool.js';
import { toolsetCheck } from './agent-toolset.js';
import { analyseCall } from './analysed-call.js';
import { rootsIn, toParentTree, type WorktreeMapping } from './paths/worktree-mapping.js';
import { type PermissionStep, PIPELINE, runPipeline } from './pipeline.js';
import { policyFacts, type Toolset } from './policy-facts.js';
import { compileRules, type RuleProblem } from './rules/compile-rules.js';
import type { ShellEnvironment } from './shell/shell-part.js';

export interface PolicyOptions {
  readonly rules: readonly PermissionRule[];
  readonly mode: AgentMode;
  /** Absolute paths: the workspace first, then added directories. */
  readonly roots: readonly [string, ...string[]];
  readonly home: string;
  readonly skeinHome: string;
  /** True if a screen, an inbox or an SDK callback can answer a permission question. */
  readonly surface: boolean;
  /** Follows symbolic links as far as the path exists, and keeps the rest. Must not throw. */
  readonly realPath: (path: string) => string;
  /** Folders of this session's artifacts, which tools may read although they lie in SKEIN_HOME. */
  readonly artifacts?: readonly string[];
  /** Maps the path of an artifact on another machine to its local copy. */
  readonly localCopyOf?: ((path: string) => string | undefined) | undefined;
  /** Tools that the agent may use. Default: all tools in its prompt. */
  readonly tools?: Toolset;
  /** Returns the model id of an alias, for rules about the model of an agent. Default: every name is an id. */
  readonly modelNamed?: ((name: string) => string) | undefined;
  /** True if `README` and `readme` are one file, as on macOS. Default: false. */
  readonly ignoreCase?: boolean;
  /**
   * Worktrees of the agent: its own first, then the worktrees of its ancestors. A rule for a file of the
   * workspace also covers the same file in the worktree. The agent may write only in its own worktree.
   * Default: none.
   */
  readonly trees?: readonly WorktreeMapping[] | undefined;
}

/** Results of the checks that run before the pipeline. */
export interface Opinions {
  /** Result of the tool's own `checkPermissions`. */
  readonly finding?: SafetyFinding | undefined;
  /** Merged decision of the PreToolUse hooks. */
  readonly hook?: HookOpinion | undefined;
}

export interface Policy {
  rule(request: PermissionRequest, opinions?: Opinions): Ruling;
  /** Returns the allow rule that an answer for the session or the project is stored as. */
  exactRuleFor(request: PermissionRequest): string;
  /** Rules that cannot be parsed and therefore never match. The caller must stop on a fatal problem. */
  readonly problems: readonly RuleProblem[];
}

export const createPolicy = (
  options: PolicyOptions,
  pipeline: readonly PermissionStep[] = PIPELINE,
): Policy => {
  const { mode, surface, home, realPath, ignoreCase = false, trees = [] } = options;
  const roots = rootsIn(trees, options.roots);
  const environment: ShellEnvironment = {
    home,
    realPath,
    ignoreCase,
    roots,
    toParentPath: trees.length === 0 ? undefined : toParentTree(trees),
    localCopyOf: options.localCopyOf,
  };
  const { modelNamed } = options;
  const rules = compileRules(options.rules, options.roots[0], { ...environment, modelNamed });
  const folders = { ...options, roots };
  const checkToolset = toolsetCheck(options.tools, folders, { ...environment, modelNamed });
  const facts = policyFacts(mode, surface, rules, folders, environment, options.tools);
  return {
    problems: rules.problems,
    exactRuleFor: facts.exactRuleFor,
    rule(request, opinions = {}) {
      const call = analyseCall(request, opinions, environment);
      const refusal = checkToolset(call);
      if (refusal === undefined) return runPipeline(pipeline, call, facts) ?? UNDECIDED;
      const denies: PermissionStep = { name: 'deny', judge: () => ({ ...DENIED, ...refusal }) };
      return runPipeline([denies], call, facts) ?? UNDECIDED;
    },
  };
};

const DENIED = { behavior: 'deny', step: 'deny' } as const;

/** Ruling of a pipeline in which no step decides, so that it denies every call. */
const UNDECIDED: Ruling = {
  behavior: 'deny',
  step: 'reject',
  reason: 'No step of the permission pipeline allowed this call.',
  instead: 'A pipeline with all its steps would decide.',
  risk: 'high',
  readOnly: false,
};
