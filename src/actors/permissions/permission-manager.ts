/** Where calls are judged: the policy of the moment, and who can be asked. */

import type { WorktreeMapping } from '../../policy/paths/worktree-mapping.js';
import {
  createPolicy,
  type Opinions,
  type Policy,
  type PolicyOptions,
} from '../../policy/policy.js';
import type { Toolset } from '../../policy/policy-facts.js';
import { UsageError } from '../../protocol/errors.js';
import type { KnownSurface } from '../../protocol/permission/answer.js';
import type {
  AgentMode,
  PermissionMode,
  PermissionRequest,
  Ruling,
} from '../../protocol/permission/permission.js';
import type { ModeSwitch } from './mode-switch.js';

export interface PermissionManager {
  /** Whoever may answer, with the keys by which they are known. */
  readonly surfaces: readonly KnownSurface[];
  readonly permissionTimeoutMs: number;
  /** With `trees` as if its agent worked there: what one below it asks for in a tree of its own. */
  rule(request: PermissionRequest, said: Opinions, trees?: readonly WorktreeMapping[]): Ruling;
  readonly mode: AgentMode;
  /** Throws a UsageError for a mode that may not be used here. */
  changeMode(mode: PermissionMode): void;
  /** To the mode from before plan mode; returns it. */
  leavePlan(): PermissionMode;
  /** The rule that an answer which lasts is kept as. */
  grantFor(request: PermissionRequest): string;
  /** What was allowed for the session before it was resumed. */
  recall(grants: Iterable<string>): void;
  /** Whether the rule that a lasting answer is kept as would have allowed the call. */
  heedsRule(request: PermissionRequest, said: Opinions): boolean;
  /** The same call is allowed for the rest of the session: to everybody, where a person said so. */
  allowForSession(request: PermissionRequest, by: Answerer): void;
  /** ... and in this project from now on. */
  allowForProject(request: PermissionRequest, by: Answerer): void;
  /** Tells whenever more is allowed than before, here or above, until what it returns is called. */
  onAllowed(listener: () => void): () => void;
  /** The desk of an agent that works for this one's. */
  under(child: ChildTerms): PermissionManager;
}

/** Hooks speak for the agent that they belong to, people for all. */
export type Answerer = 'person' | 'hook';

export interface ChildTerms {
  /** What it has of the tools; undefined when it has all that its parent has. */
  readonly tools: Toolset | undefined;
  /** `bubble` where it has none of its own; one that plans may leave that. */
  readonly mode: AgentMode | Planning;
  /** Its parent as the one whom it asks. */
  readonly surfaces: readonly KnownSurface[];
  /** That it works in, and those that it came from; left out, it works where its parent does. */
  readonly trees?: readonly WorktreeMapping[] | undefined;
}

/** Of an agent whose plan can be approved. */
export interface Planning {
  readonly mode: AgentMode;
  leavePlan(): PermissionMode;
}

export interface PermissionManagerOptions {
  readonly policy: Omit<PolicyOptions, 'surface' | 'mode'>;
  /** Of an agent whose questions go up it is always `bubble`. */
  readonly mode: { readonly mode: AgentMode } & Pick<ModeSwitch, 'change' | 'leavePlan'>;
  readonly surfaces: readonly KnownSurface[];
  readonly permissionTimeoutMs: number;
  /** Writes an allow rule to the project's local settings. */
  readonly keepRule: (text: string) => void;
  /** Hooks may answer where there is no surface. */
  readonly answersByHook?: boolean;
}

export const permissionManager = (
  options: PermissionManagerOptions,
  above?: PermissionManager,
): PermissionManager => {
  const desk: PermissionManager = Object.assign(deskOf(options, above), {
    under: (child: ChildTerms) => deskUnder(desk, options, child),
  });
  return desk;
};

/**
 * Under the same rules. What these would put to a person goes to the parent first, whose own rules and
 * mode may settle it (law 6: by policy, and never by its model). What a parent was not given it cannot
 * hand on.
 */
const deskUnder = (
  parent: PermissionManager,
  options: PermissionManagerOptions,
  { tools, mode, surfaces, trees = options.policy.trees }: ChildTerms,
): PermissionManager => {
  const own = permissionManager(
    {
      ...options,
      surfaces,
      mode: fixedMode(mode),
      answersByHook: options.answersByHook ?? false,
      policy: { ...options.policy, trees, ...(tools !== undefined && { tools }) },
    },
    parent,
  );
  const rule = own.rule.bind(own);
  const isBounded = options.policy.tools !== undefined;
  return Object.assign(own, {
    rule(request: PermissionRequest, said: Opinions, within = trees) {
      const ruling = rule(request, said, within);
      if (ruling.behavior === 'deny') return ruling;
      // What only reads is free for a parent that plans too; what does more it may refuse.
      const isFree = ruling.behavior === 'allow' && !isBounded && ruling.readOnly;
      if (isFree) return ruling;
      const above = parent.rule(request, said, within);
      if (ruling.behavior === 'allow') return above.behavior === 'deny' ? above : ruling;
      return above.behavior === 'ask' ? ruling : above;
    },
  });
};

const fixedMode = (mode: AgentMode | Planning): PermissionManagerOptions['mode'] => {
  const refuse = (): never => {
    throw new UsageError('The mode of an agent that works for another cannot be changed.');
  };
  if (typeof mode === 'string') return { mode, change: refuse, leavePlan: refuse };
  return {
    get mode() {
      return mode.mode;
    },
    change: refuse,
    leavePlan: () => mode.leavePlan(),
  };
};

const deskOf = (
  options: PermissionManagerOptions,
  above: PermissionManager | undefined,
): Omit<PermissionManager, 'under'> => {
  const { surfaces, permissionTimeoutMs, keepRule, answersByHook = false } = options;
  let { rules } = options.policy;
  const listeners = new Set<() => void>();
  let made: { readonly mode: AgentMode; readonly policies: Map<string, Policy> } | undefined;
  /** As the rules and the mode are now. */
  const policy = (trees = options.policy.trees): Policy => {
    const { mode } = options.mode;
    if (made?.mode !== mode) made = { mode, policies: new Map() };
    const { policies } = made;
    const place = trees?.[0]?.path ?? '';
    const known = policies.get(place);
    if (known !== undefined) return known;
    const surface = surfaces.length > 0 || answersByHook;
    const fresh = createPolicy({ ...options.policy, trees, rules, mode, surface });
    policies.set(place, fresh);
    return fresh;
  };
  const recall = (grants: Iterable<string>) => {
    const kept = Array.from(
      grants,
      (text) => ({ behavior: 'allow', text, source: 'session' }) as const,
    );
    rules = [...rules, ...kept];
    made = undefined;
    for (const listener of [...listeners]) listener();
  };
  const allowForSession = (request: PermissionRequest, by: Answerer) => {
    recall([policy().grantFor(request)]);
    if (by === 'person') above?.allowForSession(request, by);
  };
  return {
    surfaces,
    permissionTimeoutMs,
    get mode() {
      return options.mode.mode;
    },
    changeMode: (mode) => options.mode.change(mode),
    leavePlan: () => options.mode.leavePlan(),
    rule: (request, said, trees) => policy(trees).rule(request, said),
    grantFor: (request) => policy().grantFor(request),
    heedsRule(request, said) {
      const text = policy().grantFor(request);
      const { mode } = options.mode;
      const rule = { behavior: 'allow', text, source: 'local' } as const;
      const wiser = createPolicy({
        ...options.policy,
        rules: [...rules, rule],
        mode,
        surface: true,
      });
      return wiser.rule(request, said).behavior === 'allow';
    },
    recall,
    allowForSession,
    allowForProject(request, by) {
      keepRule(policy().grantFor(request));
      allowForSession(request, by);
    },
    onAllowed(listener) {
      const forget = above?.onAllowed(listener);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        forget?.();
      };
    },
  };
};
