/** Checks whether a permission mode may be used, at the start and at every later change. */
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { refuseRootBypass } from '../../config/trust/refuse-root-bypass.js';
import type { PermissionMode } from '../../protocol/permission/permission-mode.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { HostEnvironment } from './options/host-environment.js';

/** Throws UsageError if the mode may not be used. */
export const checkMode = (
  mode: PermissionMode,
  host: Pick<HostEnvironment, 'env' | 'uid'>,
  { bypassDisabledBy, mode: given }: Pick<LoadedSettings, 'bypassDisabledBy' | 'mode'>,
): void => {
  refuseRootBypass(mode, host);
  // Plan mode is always allowed because it only restricts. From there the policy's mode is allowed again.
  if (given.source === 'policy' && mode !== given.value && mode !== 'plan') {
    throw new UsageError(
      `The managed policy ${given.file} sets the mode ${given.value}; only your administrator can change it.`,
    );
  }
  if (mode !== 'bypassPermissions' || bypassDisabledBy === undefined) return;
  throw new UsageError(`Mode bypassPermissions is disabled by ${bypassDisabledBy}.`);
};
