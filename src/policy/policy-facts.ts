/** What the steps of the pipeline may ask about: rules, mode, folders, answers already given. */
import { join } from 'node:path';
import type {
  AgentMode,
  PermissionRequest,
  PermissionRule,
  RuleBehavior,
} from '../protocol/permission/permission.js';
import type { AnalysedCall } from './analysed-call.js';
import { isInside, type PathWorld, placesOf } from './paths/path-policy.js';
import { pathOutside, type WorktreeMapping } from './paths/worktree-mapping.js';
import { exactRuleFor } from './rules/exact-rule.js';
import type { CompiledRule, Rulebook } from './rules/rule-matcher.js';
import { commandAllowance } from './shell/judgement/command-allowance.js';

/** The tools of an agent that is shown more than it may use. */
export interface Toolset {
  /** Whose they are: `explorer`. */
  readonly owner: string;
  readonly names: ReadonlySet<string>;
  /** Rules: of a tool that one of them names, only calls that one allows. */
  readonly limits?: readonly string[];
  /** Rules: calls that are denied, whatever else allows them. */
  readonly denials?: readonly string[];
}

export interface PolicyFacts {
  readonly mode: AgentMode;
  /** Somebody can answer a question, or passes it on to somebody who can. */
  readonly canAsk: boolean;
  /** Undefined when it may use whatever it is shown. */
  readonly tools: Toolset | undefined;
  firstMatch(behavior: RuleBehavior, call: AnalysedCall): PermissionRule | undefined;
  /** A command line that only reads, and writes only what the mode lets it. */
  isFreeCommand(call: AnalysedCall): boolean;
  /** An allow rule speaks of this very thing, not of every call of a tool. */
  isNamedByRule(call: AnalysedCall): boolean;
  /** The answer for the session that a person gave to exactly this call. */
  rememberedAnswer(request: PermissionRequest): PermissionRule | undefined;
  grantFor(request: PermissionRequest): string;
  readonly isInWorkspace: (place: string) => boolean;
  /** Large outputs of this session, which its agents may read though they lie in SKEIN_HOME. */
  readonly isArtifact: (place: string) => boolean;
  isForbidden(place: string, call: AnalysedCall): boolean;
  /** A place outside of its own tree that an agent which has one would write; undefined for any other call. */
  strayPlace(call: AnalysedCall): string | undefined;
  /** The tree of its own that an agent works in. */
  readonly tree: WorktreeMapping | undefined;
}

export interface Folders {
  readonly roots: readonly string[];
  readonly skeinHome: string;
  readonly artifacts?: readonly string[] | undefined;
  /** Of the agent's own: the one that it works in, and those that this one came from. */
  readonly trees?: readonly WorktreeMapping[] | undefined;
}

export const policyFacts = (
  mode: AgentMode,
  surface: boolean,
  book: Rulebook,
  folders: Folders,
  world: PathWorld,
  tools?: Toolset,
): PolicyFacts => {
  // What is forbidden is so in any spelling; what is free only as the disk spells it.
  const within = (paths: readonly string[], ignoreCase = world.ignoreCase) => {
    const bases = paths.flatMap((path) => placesOf(path, world));
    return (place: string) => bases.some((base) => isInside(base, place, ignoreCase));
  };
  const isState = within([folders.skeinHome]);
  const isWorktree = within([join(folders.skeinHome, 'worktrees')]);
  // A workspace may lie in SKEIN_HOME only as a worktree: no other root opens the state folder.
  const [tree] = folders.trees ?? [];
  const own = [...folders.roots, ...(tree === undefined ? [] : [tree.path])];
  const isOwnWorktree = within(
    own.filter((root) => isWorktree(root) && !isInside(root, join(folders.skeinHome, 'worktrees'))),
  );
  const isArtifact = within(folders.artifacts ?? [], false);
  const grant = (request: PermissionRequest) => exactRuleFor(request, world);
  const allowing = book.rules.filter(({ rule }) => rule.behavior === 'allow');
  const isInWorkspace = within(folders.roots, false);
  const leave = {
    isReadable: (place: string) => isInWorkspace(place) || isArtifact(place),
    isWritable: (place: string) => mode === 'acceptEdits' && isInWorkspace(place),
  };
  const byParts = (rules: readonly CompiledRule[], call: AnalysedCall) => {
    const found = commandAllowance(call, rules, leave);
    return found === 'free' ? undefined : found;
  };
  return {
    mode,
    tools,
    tree,
    canAsk: surface || mode === 'bubble',
    isNamedByRule: (call) => {
      const narrow = allowing.filter(({ isNarrow }) => isNarrow);
      return narrow.some(({ matches }) => matches(call)) || byParts(narrow, call) !== undefined;
    },
    firstMatch: (behavior, call) =>
      book.rules.find(({ rule, matches }) => rule.behavior === behavior && matches(call))?.rule ??
      (behavior === 'allow' ? byParts(allowing, call) : undefined),
    isFreeCommand: (call) => commandAllowance(call, [], leave) === 'free',
    rememberedAnswer(request) {
      const text = grant(request);
      return book.rules.find(({ rule }) => isAnswer(rule) && rule.text === text)?.rule;
    },
    grantFor: grant,
    isInWorkspace,
    isArtifact,
    isForbidden: (place, { request }) =>
      isState(place) && !isOwnWorktree(place) && !(request.readOnly && isArtifact(place)),
    strayPlace: (call) => pathOutside(call, folders.trees ?? []),
  };
};

const isAnswer = ({ behavior, source }: PermissionRule) =>
  behavior === 'allow' && source === 'session';
