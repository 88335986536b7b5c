/**
 * The control plane: no call has an effect without a ruling from here.
 *
 * A policy is a value. When the mode, the rules or the presence of a surface change, make another.
 */
import type {
  AgentMode,
  HookOpinion,
  PermissionRequest,
  PermissionRule,
  Ruling,
} from '../protocol/permission/permission.js';
import type { SafetyFinding } from '../protocol/tools/tool.js';
import { boundsCheck } from './agent-toolset.js';
import { judgedCall } from './analysed-call.js';
import { rootsIn, toParentTree, type WorktreeMapping } from './paths/worktree-mapping.js';
import { judge, PIPELINE, type Step } from './pipeline.js';
import { policyFacts, type Toolset } from './policy-facts.js';
import { compileRules, type RuleProblem } from './rules/rule-matcher.js';
import type { ShellWorld } from './shell/shell-part.js';

export interface PolicyOptions {
  readonly rules: readonly PermissionRule[];
  readonly mode: AgentMode;
  /** Absolute: the workspace first, then added directories. */
  readonly roots: readonly [string, ...string[]];
  readonly home: string;
  readonly skeinHome: string;
  /** Somebody can answer a question: a screen, an inbox, an SDK callback. */
  readonly surface: boolean;
  /** Follows symbolic links as far as the path exists; keeps the rest. Must not throw. */
  readonly realPath: (path: string) => string;
  /** Folders of this session's large outputs: readable although they lie in SKEIN_HOME. */
  readonly artifacts?: readonly string[];
  /** Where file tools find an output of this session that was written on another machine. */
  readonly keptAt?: ((path: string) => string | undefined) | undefined;
  /** Of the tools that it is shown, those that an agent may use; left out, all of them. */
  readonly tools?: Toolset;
  /** True where `README` and `readme` are one file, as on macOS. */
  readonly ignoreCase?: boolean;
  /**
   * Of an agent that works in a tree of its own: that one, and those that it came from. Rules hold for its
   * files as for those that they stand for, and it writes nowhere else.
   */
  readonly trees?: readonly WorktreeMapping[] | undefined;
}

/** What others say of a call before the pipeline rules. */
export interface Opinions {
  /** The tool's own checkPermissions. */
  readonly finding?: SafetyFinding | undefined;
  readonly hook?: HookOpinion | undefined;
}

export interface Policy {
  rule(request: PermissionRequest, said?: Opinions): Ruling;
  /** The text of the allow rule that an answer for the session or the project becomes. */
  grantFor(request: PermissionRequest): string;
  /** Rules that cannot be read and therefore never match. Stop on a fatal one. */
  readonly problems: readonly RuleProblem[];
}

export const createPolicy = (
  options: PolicyOptions,
  pipeline: readonly Step[] = PIPELINE,
): Policy => {
  const { mode, surface, home, realPath, ignoreCase = false, trees = [] } = options;
  const roots = rootsIn(trees, options.roots);
  const homeOf = trees.length === 0 ? undefined : toParentTree(trees);
  const world: ShellWorld = { home, realPath, ignoreCase, roots, homeOf, keptAt: options.keptAt };
  const book = compileRules(options.rules, options.roots[0], world);
  const folders = { ...options, roots };
  const refusal = boundsCheck(options.tools, folders, world);
  const facts = policyFacts(mode, surface, book, folders, world, options.tools);
  return {
    problems: book.problems,
    grantFor: facts.grantFor,
    rule(request, said = {}) {
      const call = judgedCall(request, said, world);
      const why = refusal(call);
      if (why === undefined) return judge(pipeline, call, facts) ?? UNDECIDED;
      return (
        judge([{ name: 'deny', judge: () => ({ ...DENIED, ...why }) }], call, facts) ?? UNDECIDED
      );
    },
  };
};

const DENIED = { behavior: 'deny', step: 'deny' } as const;

/** A pipeline without its last step must still allow nothing. */
const UNDECIDED: Ruling = {
  behavior: 'deny',
  step: 'reject',
  reason: 'No step of the permission pipeline allowed this call.',
  instead: 'A pipeline with all its steps would decide.',
  risk: 'high',
  readOnly: false,
};
