/** Which permission modes may be used here, at the start and when a person changes them later. */
import type { LoadedSettings } from '../config/load-settings.js';
import { refuseRootBypass } from '../config/root-bypass.js';
import { UsageError } from '../protocol/errors.js';
import type { PermissionMode } from '../protocol/permission.js';
import type { Surroundings } from './surroundings.js';

/** Throws a UsageError for a mode that may not be used. */
export const checkMode = (
  mode: PermissionMode,
  machine: Surroundings,
  { bypassDisabledBy }: LoadedSettings,
): void => {
  refuseRootBypass(mode, machine);
  if (mode !== 'bypassPermissions' || bypassDisabledBy === undefined) return;
  throw new UsageError(`Mode bypassPermissions is disabled by ${bypassDisabledBy}.`);
};
