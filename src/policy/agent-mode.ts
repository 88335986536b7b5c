/** In which permission mode a sub-agent works, by what its definition and its parent say. */
import type { AgentMode, PermissionMode } from '../protocol/permission/permission.js';

/** From the one that allows least. A mode whose questions go up allows by itself what `default` does. */
const STRICTEST_FIRST: readonly AgentMode[] = [
  'plan',
  'dontAsk',
  'bubble',
  'default',
  'acceptEdits',
  'bypassPermissions',
];

/** A definition may ask for less than its parent may do, never for more. */
export const modeFor = <Mode extends AgentMode>(
  wanted: PermissionMode | undefined,
  parent: Mode,
): Mode | PermissionMode => {
  if (wanted === undefined) return parent;
  return STRICTEST_FIRST.indexOf(wanted) < STRICTEST_FIRST.indexOf(parent) ? wanted : parent;
};
