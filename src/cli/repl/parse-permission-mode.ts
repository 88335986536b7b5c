/** Parses the permission mode typed after `/mode`. */

import {
  type AgentMode,
  PERMISSION_MODES,
  type PermissionMode,
} from '../../protocol/permission/permission-mode.js';
import { UsageError } from '../../protocol/skein-error.js';

/** Returns undefined for an empty text. Throws UsageError for an unknown mode. */
export const parsePermissionMode = (typed: string): PermissionMode | undefined => {
  if (typed === '') return undefined;
  const mode = PERMISSION_MODES.find((mode) => mode.toLowerCase() === typed.toLowerCase());
  if (mode !== undefined) return mode;
  throw new UsageError(`There is no mode "${typed}". Use one of ${PERMISSION_MODES.join(', ')}.`);
};

/** Modes that the mode key cycles through. Other modes need `/mode` with a name. */
const CYCLE: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan'];

export const nextPermissionMode = (mode: AgentMode): PermissionMode =>
  CYCLE[(CYCLE.indexOf(mode as PermissionMode) + 1) % CYCLE.length] ?? 'default';
