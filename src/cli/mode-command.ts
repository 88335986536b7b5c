/** `/mode`: which permission mode is meant by what somebody typed. */
import { UsageError } from '../protocol/errors.js';
import { PERMISSION_MODES, type PermissionMode } from '../protocol/permission.js';

/** Undefined when nothing was typed. */
export const modeOf = (typed: string): PermissionMode | undefined => {
  if (typed === '') return undefined;
  const mode = PERMISSION_MODES.find((known) => known.toLowerCase() === typed.toLowerCase());
  if (mode !== undefined) return mode;
  throw new UsageError(`There is no mode "${typed}". There is ${PERMISSION_MODES.join(', ')}.`);
};
