/** Permission mode of a sub-agent, from its definition and the mode of its parent. */
import type { AgentMode, PermissionMode } from '../protocol/permission/permission-mode.js';

/** `bubble` forwards questions to the parent, and allows without a question the same calls as `default`. */
const STRICTEST_FIRST: readonly AgentMode[] = [
  'plan',
  'dontAsk',
  'bubble',
  'default',
  'acceptEdits',
  'bypassPermissions',
];

/** Returns the stricter of the two modes: a definition can tighten the mode of the parent, never loosen it. */
export const agentMode = <Mode extends AgentMode>(
  requested: PermissionMode | undefined,
  parent: Mode,
): Mode | PermissionMode => {
  if (requested === undefined) return parent;
  return STRICTEST_FIRST.indexOf(requested) < STRICTEST_FIRST.indexOf(parent) ? requested : parent;
};
