/** Root may break everything, so its agents are asked about unless somebody says it is a sandbox. */
import { UsageError } from '../../protocol/errors.js';
import type { PermissionMode } from '../../protocol/permission/permission.js';
import type { ConfigEnvironment } from '../workspace/config-environment.js';

/** Throws a UsageError. Only the process's own environment counts: settings may come with a clone. */
export const refuseRootBypass = (
  mode: PermissionMode,
  { env, uid }: Pick<ConfigEnvironment, 'env' | 'uid'>,
): void => {
  if (mode !== 'bypassPermissions' || uid !== 0 || env.IS_SANDBOX === '1') return;
  throw new UsageError(
    'Mode bypassPermissions is refused for root, whom nothing stops: run as another user, choose another mode, or set IS_SANDBOX=1 in a container that may break.',
  );
};
