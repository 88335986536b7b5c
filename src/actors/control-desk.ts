/** Where calls are judged: the policy of the moment, and who can be asked. */

import { createPolicy, type Opinions, type Policy, type PolicyOptions } from '../policy/policy.js';
import type { KnownSurface } from '../protocol/answer.js';
import type {
  AgentMode,
  PermissionMode,
  PermissionRequest,
  Ruling,
} from '../protocol/permission.js';
import type { ModeSwitch } from './mode-switch.js';

export interface ControlDesk {
  /** Whoever may answer, with the keys by which they are known. */
  readonly surfaces: readonly KnownSurface[];
  readonly permissionTimeoutMs: number;
  rule(request: PermissionRequest, said: Opinions): Ruling;
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
  /** The same call is allowed for the rest of the session. */
  allowForSession(request: PermissionRequest): void;
  /** ... and in this project from now on. */
  allowForProject(request: PermissionRequest): void;
}

export interface ControlDeskOptions {
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

export const controlDesk = (options: ControlDeskOptions): ControlDesk => {
  const { surfaces, permissionTimeoutMs, keepRule, answersByHook = false } = options;
  let { rules } = options.policy;
  let made: { readonly mode: AgentMode; readonly policy: Policy } | undefined;
  /** As the rules and the mode are now. */
  const policy = (): Policy => {
    const { mode } = options.mode;
    if (made?.mode !== mode) {
      const canAnswer = surfaces.length > 0 || answersByHook;
      made = { mode, policy: createPolicy({ ...options.policy, rules, mode, surface: canAnswer }) };
    }
    return made.policy;
  };
  const recall = (grants: Iterable<string>) => {
    const kept = Array.from(
      grants,
      (text) => ({ behavior: 'allow', text, source: 'session' }) as const,
    );
    rules = [...rules, ...kept];
    made = undefined;
  };
  const allowForSession = (request: PermissionRequest) => recall([policy().grantFor(request)]);
  return {
    surfaces,
    permissionTimeoutMs,
    get mode() {
      return options.mode.mode;
    },
    changeMode: (mode) => options.mode.change(mode),
    leavePlan: () => options.mode.leavePlan(),
    rule: (request, said) => policy().rule(request, said),
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
    ...{ recall, allowForSession },
    allowForProject(request) {
      keepRule(policy().grantFor(request));
      allowForSession(request);
    },
  };
};
