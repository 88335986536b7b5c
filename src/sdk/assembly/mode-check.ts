/** Which permission modes may be used here, at the start and when a person changes them later. */
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { refuseRootBypass } from '../../config/trust/root-bypass.js';
import { UsageError } from '../../protocol/errors.js';
import type { PermissionMode } from '../../protocol/permission/permission.js';
import type { HostEnvironment } from './options/host-environment.js';

/** Throws a UsageError for a mode that may not be used. */
export const checkMode = (
  mode: PermissionMode,
  machine: Pick<HostEnvironment, 'env' | 'uid'>,
  { bypassDisabledBy, mode: given }: Pick<LoadedSettings, 'bypassDisabledBy' | 'mode'>,
): void => {
  refuseRootBypass(mode, machine);
  // Whoever is under a policy may look and think instead, and come back to its mode.
  if (given.source === 'policy' && mode !== given.value && mode !== 'plan') {
    throw new UsageError(
      `The managed policy ${given.file} sets the mode ${given.value}; only your administrator can change it.`,
    );
  }
  if (mode !== 'bypassPermissions' || bypassDisabledBy === undefined) return;
  throw new UsageError(`Mode bypassPermissions is disabled by ${bypassDisabledBy}.`);
};
