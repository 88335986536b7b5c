/** Refuses mode bypassPermissions for root, unless the process runs in a sandbox. */
import type { PermissionMode } from '../../protocol/permission/permission-mode.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { ConfigEnvironment } from '../workspace/config-environment.js';

/** Throws UsageError. Reads only the environment of the process, because settings may come with a clone. */
export const refuseRootBypass = (
  mode: PermissionMode,
  { env, uid }: Pick<ConfigEnvironment, 'env' | 'uid'>,
): void => {
  if (mode !== 'bypassPermissions' || uid !== 0 || env.IS_SANDBOX === '1') return;
  throw new UsageError(
    'Mode bypassPermissions is refused for root, because root can damage the whole machine: run as another user, choose another mode, or set IS_SANDBOX=1 in a disposable container.',
  );
};
