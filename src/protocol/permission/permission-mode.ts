/** Permission modes: how calls are treated that no rule decides. */

export const PERMISSION_MODES = [
  'default',
  'acceptEdits',
  'plan',
  'dontAsk',
  'bypassPermissions',
] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** Mode of an agent. `bubble` sends questions to the parent and cannot be chosen in settings. */
export type AgentMode = PermissionMode | 'bubble';
