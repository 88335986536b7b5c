/**
 * Permissions of an agent: judges requests under the current rules and mode, and lists the surfaces
 * to ask.
 */
import type { WorktreeMapping } from '../../policy/paths/worktree-mapping.js';
import {
  createPolicy,
  type Opinions,
  type Policy,
  type PolicyOptions,
} from '../../policy/policy.js';
import type { Toolset } from '../../policy/policy-facts.js';
import type { AgentMode, PermissionMode } from '../../protocol/permission/permission-mode.js';
import type { PermissionRequest, Ruling } from '../../protocol/permission/ruling.js';
import type { KnownSurface } from '../../protocol/permission/signed-answer.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { ModeSwitch } from './mode-switch.js';

export interface PermissionManager {
  /** Surfaces that may answer, with their public keys. */
  readonly surfaces: readonly KnownSurface[];
  readonly permissionTimeoutMs: number;
  /**
   * Judges a request. `trees` are the worktree mappings of a descendant that makes the request.
   * Default: the mappings of this agent.
   */
  rule(request: PermissionRequest, opinions: Opinions, trees?: readonly WorktreeMapping[]): Ruling;
  readonly mode: AgentMode;
  /** Throws UsageError if the mode may not be used here. */
  changeMode(mode: PermissionMode): void;
  /** Returns to the mode before plan mode, and returns that mode. */
  leavePlan(): PermissionMode;
  /** Returns the allow rule that a lasting answer to this request is kept as. */
  exactRuleFor(request: PermissionRequest): string;
  /** Adds allow rules for the session, as its journal recorded them. */
  addSessionRules(grants: Iterable<string>): void;
  /** True if the rule of `exactRuleFor` would allow the request. */
  wouldRuleAllow(request: PermissionRequest, opinions: Opinions): boolean;
  /**
   * Allows the same call for the rest of the session. The answer of a person holds for all agents,
   * that of a hook for this agent and its descendants.
   */
  allowForSession(request: PermissionRequest, by: Answerer): void;
  /** Like `allowForSession`, and also writes the rule to the project settings. */
  allowForProject(request: PermissionRequest, by: Answerer): void;
  /**
   * Calls the listener when a rule is added here or in an ancestor. Returns a function that removes
   * the listener.
   */
  onAllowed(listener: () => void): () => void;
  /** Creates the permissions of a child. */
  forChild(child: ChildPermissionOptions): PermissionManager;
}

/** Source of an answer: a hook answers for its own agent, a person for all agents. */
type Answerer = 'person' | 'hook';

interface ChildPermissionOptions {
  /** Tools that the child has. Undefined: all tools of its parent. */
  readonly tools: Toolset | undefined;
  /** `bubble` if the definition sets no mode. A child in plan mode may leave it. */
  readonly mode: AgentMode | Planning;
  /** The parent as a surface, or an empty list. */
  readonly surfaces: readonly KnownSurface[];
  /** Worktree mappings of the child and its ancestors. Default: the mappings of its parent. */
  readonly trees?: readonly WorktreeMapping[] | undefined;
}

/** Mode of a child in plan mode, which ends when the plan is approved. */
export interface Planning {
  readonly mode: AgentMode;
  leavePlan(): PermissionMode;
}

interface PermissionManagerOptions {
  readonly policy: Omit<PolicyOptions, 'surface' | 'mode'>;
  /** Always `bubble` if questions of the agent go to its parent. */
  readonly mode: { readonly mode: AgentMode } & Pick<ModeSwitch, 'change' | 'leavePlan'>;
  readonly surfaces: readonly KnownSurface[];
  readonly permissionTimeoutMs: number;
  /** Writes an allow rule to the local settings of the project. */
  readonly keepRule: (text: string) => void;
  /** True if hooks may answer when there is no surface. */
  readonly answersByHook?: boolean;
}

export const permissionManager = (
  options: PermissionManagerOptions,
  parent?: PermissionManager,
): PermissionManager => {
  const permissions: PermissionManager = Object.assign(createManager(options, parent), {
    forChild: (child: ChildPermissionOptions) => createChildManager(permissions, options, child),
  });
  return permissions;
};

/**
 * Creates the permissions of a child under the same rules. If they ask, the rules and the mode of
 * the parent decide first (law 6: by policy, never by its model). A child never gets a tool that
 * its parent lacks.
 */
const createChildManager = (
  parent: PermissionManager,
  options: PermissionManagerOptions,
  { tools, mode, surfaces, trees = options.policy.trees }: ChildPermissionOptions,
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
    rule(request: PermissionRequest, opinions: Opinions, within = trees) {
      const ruling = rule(request, opinions, within);
      if (ruling.behavior === 'deny') return ruling;
      // A read-only call is allowed even if the parent is in plan mode. The parent may refuse
      // others.
      const isFree = ruling.behavior === 'allow' && !isBounded && ruling.readOnly;
      if (isFree) return ruling;
      const parentRuling = parent.rule(request, opinions, within);
      if (ruling.behavior === 'allow')
        return parentRuling.behavior === 'deny' ? parentRuling : ruling;
      return parentRuling.behavior === 'ask' ? ruling : parentRuling;
    },
  });
};

const fixedMode = (mode: AgentMode | Planning): PermissionManagerOptions['mode'] => {
  const refuse = (): never => {
    throw new UsageError('The permission mode of a sub-agent cannot be changed.');
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

const createManager = (
  options: PermissionManagerOptions,
  parent: PermissionManager | undefined,
): Omit<PermissionManager, 'forChild'> => {
  const { surfaces, permissionTimeoutMs, keepRule, answersByHook = false } = options;
  let { rules } = options.policy;
  const listeners = new Set<() => void>();
  let cache: { readonly mode: AgentMode; readonly policies: Map<string, Policy> } | undefined;
  /** Returns the policy for the current rules and mode. */
  const policy = (trees = options.policy.trees): Policy => {
    const { mode } = options.mode;
    if (cache?.mode !== mode) cache = { mode, policies: new Map() };
    const { policies } = cache;
    const tree = trees?.[0]?.path ?? '';
    const cached = policies.get(tree);
    if (cached !== undefined) return cached;
    const surface = surfaces.length > 0 || answersByHook;
    const created = createPolicy({ ...options.policy, trees, rules, mode, surface });
    policies.set(tree, created);
    return created;
  };
  const addSessionRules = (grants: Iterable<string>) => {
    const added = Array.from(
      grants,
      (text) => ({ behavior: 'allow', text, source: 'session' }) as const,
    );
    rules = [...rules, ...added];
    cache = undefined;
    for (const listener of [...listeners]) listener();
  };
  const allowForSession = (request: PermissionRequest, by: Answerer) => {
    addSessionRules([policy().exactRuleFor(request)]);
    if (by === 'person') parent?.allowForSession(request, by);
  };
  return {
    surfaces,
    permissionTimeoutMs,
    get mode() {
      return options.mode.mode;
    },
    changeMode: (mode) => options.mode.change(mode),
    leavePlan: () => options.mode.leavePlan(),
    rule: (request, opinions, trees) => policy(trees).rule(request, opinions),
    exactRuleFor: (request) => policy().exactRuleFor(request),
    wouldRuleAllow(request, opinions) {
      const text = policy().exactRuleFor(request);
      const { mode } = options.mode;
      const rule = { behavior: 'allow', text, source: 'local' } as const;
      const extended = createPolicy({
        ...options.policy,
        rules: [...rules, rule],
        mode,
        surface: true,
      });
      return extended.rule(request, opinions).behavior === 'allow';
    },
    addSessionRules,
    allowForSession,
    allowForProject(request, by) {
      keepRule(policy().exactRuleFor(request));
      allowForSession(request, by);
    },
    onAllowed(listener) {
      const removeFromParent = parent?.onAllowed(listener);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        removeFromParent?.();
      };
    },
  };
};
