/** `/mode`: which permission mode is meant by what somebody typed. */
import { UsageError } from '../../protocol/errors.js';
import {
  type AgentMode,
  PERMISSION_MODES,
  type PermissionMode,
} from '../../protocol/permission/permission.js';

/** Undefined when nothing was typed. */
export const modeOf = (typed: string): PermissionMode | undefined => {
  if (typed === '') return undefined;
  const mode = PERMISSION_MODES.find((known) => known.toLowerCase() === typed.toLowerCase());
  if (mode !== undefined) return mode;
  throw new UsageError(`There is no mode "${typed}". There is ${PERMISSION_MODES.join(', ')}.`);
};

/** What a key goes through; the others are asked for by name. */
const ROUND: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan'];

export const modeAfter = (mode: AgentMode): PermissionMode =>
  ROUND[(ROUND.indexOf(mode as PermissionMode) + 1) % ROUND.length] ?? 'default';
