/** Facts that the steps of the pipeline query: rules, mode, folders and earlier answers. */
import { join } from 'node:path';
import { isPathInside } from '../lib/paths/is-path-inside.js';
import type { AgentMode } from '../protocol/permission/permission-mode.js';
import type { PermissionRule, RuleBehavior } from '../protocol/permission/permission-rule.js';
import type { PermissionRequest } from '../protocol/permission/ruling.js';
import type { AnalysedCall } from './analysed-call.js';
import { type PathEnvironment, resolvedPaths } from './paths/resolved-paths.js';
import { pathOutside, type WorktreeMapping } from './paths/worktree-mapping.js';
import type { CompiledRule, CompiledRules } from './rules/compile-rules.js';
import { exactRule } from './rules/exact-rule.js';
import { commandAllowance } from './shell/judgement/command-allowance.js';

/** Tools that an agent may use. Its prompt may describe more, because agents share one prompt. */
export interface Toolset {
  /** Name of the agent definition, such as `explorer`. */
  readonly owner: string;
  readonly names: ReadonlySet<string>;
  /** Allow rules. They limit each tool that they name to the calls that they allow. */
  readonly limits?: readonly string[];
  /** Deny rules. They win over every allow rule and mode. */
  readonly denials?: readonly string[];
}

export interface PolicyFacts {
  readonly mode: AgentMode;
  /** True if a surface can answer a question or forward it to the parent. */
  readonly canAsk: boolean;
  /** Undefined if the agent may use all tools in its prompt. */
  readonly tools: Toolset | undefined;
  firstMatch(behavior: RuleBehavior, call: AnalysedCall): PermissionRule | undefined;
  /** True if an ask rule matches the call because of a parameter that an answer for the session leaves out. */
  isAskedByParameter(call: AnalysedCall): boolean;
  /** True for a command line that only reads, and redirects output only to files that the mode lets it write. */
  isFreeCommand(call: AnalysedCall): boolean;
  /** True if an allow rule with a pattern matches the call, not only a rule for every call of the tool. */
  isNamedByRule(call: AnalysedCall): boolean;
  /** Returns the rule of a person's earlier answer "for this session" to exactly this call. */
  rememberedAnswer(request: PermissionRequest): PermissionRule | undefined;
  exactRuleFor(request: PermissionRequest): string;
  readonly isInWorkspace: (path: string) => boolean;
  /** True for artifacts of this session, which tools may read although they lie in SKEIN_HOME. */
  readonly isArtifact: (path: string) => boolean;
  /** True if the path belongs to the state of Skein and the call may not touch it. */
  isForbidden(path: string, call: AnalysedCall): boolean;
  /** Returns a path outside of the agent's worktree that the call would write, else undefined. */
  pathOutsideWorktree(call: AnalysedCall): string | undefined;
  /** Worktree of the agent. Undefined if it works in the workspace itself. */
  readonly worktree: WorktreeMapping | undefined;
}

export interface PolicyFolders {
  readonly roots: readonly string[];
  readonly skeinHome: string;
  readonly artifacts?: readonly string[] | undefined;
  /** Worktrees of the agent: its own first, then the worktrees of its ancestors. */
  readonly trees?: readonly WorktreeMapping[] | undefined;
}

export const policyFacts = (
  mode: AgentMode,
  surface: boolean,
  { rules }: CompiledRules,
  folders: PolicyFolders,
  environment: PathEnvironment,
  tools?: Toolset,
): PolicyFacts => {
  // Paths are forbidden in any spelling, and allowed only in the spelling of the disk.
  const within = (paths: readonly string[], ignoreCase = environment.ignoreCase) => {
    const bases = paths.flatMap((path) => resolvedPaths(path, environment));
    return (path: string) => bases.some((base) => isPathInside({ path, folder: base, ignoreCase }));
  };
  const isState = within([folders.skeinHome]);
  const isWorktree = within([join(folders.skeinHome, 'worktrees')]);
  // A workspace may lie in SKEIN_HOME only as a worktree: no other root opens the state folder.
  const [worktree] = folders.trees ?? [];
  const own = [...folders.roots, ...(worktree === undefined ? [] : [worktree.path])];
  const isOwnWorktree = within(
    own.filter(
      (root) =>
        isWorktree(root) &&
        !isPathInside({ path: join(folders.skeinHome, 'worktrees'), folder: root }),
    ),
  );
  const isArtifact = within(folders.artifacts ?? [], false);
  const exactRuleFor = (request: PermissionRequest) => exactRule(request, environment);
  const allowing = rules.filter(({ rule }) => rule.behavior === 'allow');
  const isInWorkspace = within(folders.roots, false);
  const access = {
    isReadable: (path: string) => isInWorkspace(path) || isArtifact(path),
    isWritable: (path: string) => mode === 'acceptEdits' && isInWorkspace(path),
  };
  const allowanceByParts = (candidates: readonly CompiledRule[], call: AnalysedCall) => {
    const found = commandAllowance(call, candidates, access);
    return found === 'free' ? undefined : found;
  };
  return {
    mode,
    tools,
    worktree,
    canAsk: surface || mode === 'bubble',
    isNamedByRule: (call) => {
      const narrow = allowing.filter(({ isNarrow }) => isNarrow);
      return (
        narrow.some((rule) => rule.matches(call) && rule.matchesTarget(call)) ||
        allowanceByParts(narrow, call) !== undefined
      );
    },
    firstMatch: (behavior, call) =>
      rules.find(({ rule, matches }) => rule.behavior === behavior && matches(call))?.rule ??
      (behavior === 'allow' ? allowanceByParts(allowing, call) : undefined),
    isAskedByParameter: (call) =>
      rules.some(
        ({ rule, matches, matchesTarget }) =>
          rule.behavior === 'ask' && matches(call) && !matchesTarget(call),
      ),
    isFreeCommand: (call) => commandAllowance(call, [], access) === 'free',
    rememberedAnswer(request) {
      const text = exactRuleFor(request);
      return rules.find(({ rule }) => isAnswer(rule) && rule.text === text)?.rule;
    },
    exactRuleFor,
    isInWorkspace,
    isArtifact,
    isForbidden: (path, { request }) =>
      isState(path) && !isOwnWorktree(path) && !(request.readOnly && isArtifact(path)),
    pathOutsideWorktree: (call) => pathOutside(call, folders.trees ?? []),
  };
};

const isAnswer = ({ behavior, source }: PermissionRule) =>
  behavior === 'allow' && source === 'session';
