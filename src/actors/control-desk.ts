/** Where calls are judged: the policy of the moment, and who can be asked. */

import { createPolicy, type Opinions, type Policy, type PolicyOptions } from '../policy/policy.js';
import type { KnownSurface } from '../protocol/answer.js';
import type { PermissionRequest, Ruling } from '../protocol/permission.js';

export interface ControlDesk {
  /** Whoever may answer, with the keys by which they are known. */
  readonly surfaces: readonly KnownSurface[];
  readonly permissionTimeoutMs: number;
  rule(request: PermissionRequest, said: Opinions): Ruling;
  /** The rule that an answer which lasts is kept as. */
  grantFor(request: PermissionRequest): string;
  /** The same call is allowed for the rest of the session. */
  allowForSession(request: PermissionRequest): void;
  /** ... and in this project from now on. */
  allowForProject(request: PermissionRequest): void;
}

export interface ControlDeskOptions {
  readonly policy: Omit<PolicyOptions, 'surface'>;
  readonly surfaces: readonly KnownSurface[];
  readonly permissionTimeoutMs: number;
  /** Writes an allow rule to the project's local settings. */
  readonly keepRule: (text: string) => void;
}

export const controlDesk = (options: ControlDeskOptions): ControlDesk => {
  const { surfaces, permissionTimeoutMs, keepRule } = options;
  const policyOf = (rules: PolicyOptions['rules']): Policy =>
    createPolicy({ ...options.policy, rules, surface: surfaces.length > 0 });
  let rules = options.policy.rules;
  let policy = policyOf(rules);
  const allowForSession = (request: PermissionRequest) => {
    const text = policy.grantFor(request);
    rules = [...rules, { behavior: 'allow', text, source: 'session' }];
    policy = policyOf(rules);
  };
  return {
    surfaces,
    permissionTimeoutMs,
    rule: (request, said) => policy.rule(request, said),
    grantFor: (request) => policy.grantFor(request),
    allowForSession,
    allowForProject(request) {
      keepRule(policy.grantFor(request));
      allowForSession(request);
    },
  };
};
