import { describe, expect, test } from 'vitest';
import { refuseRootBypass } from '../../../src/config/trust/refuse-root-bypass.js';
import { PERMISSION_MODES } from '../../../src/protocol/permission/permission-mode.js';
import { UsageError } from '../../../src/protocol/skein-error.js';

describe('bypassPermissions as root', () => {
  test('is refused with advice', () => {
    for (const env of [{}, { IS_SANDBOX: '0' }, { IS_SANDBOX: 'yes' }]) {
      const refused = () => refuseRootBypass('bypassPermissions', { env, uid: 0 });
      expect(refused).toThrow(UsageError);
      expect(refused).toThrow('set IS_SANDBOX=1');
    }
  });

  test('is allowed in a sandbox, for other users and in other modes', () => {
    refuseRootBypass('bypassPermissions', { env: { IS_SANDBOX: '1' }, uid: 0 });
    refuseRootBypass('bypassPermissions', { env: {}, uid: 1000 });
    refuseRootBypass('bypassPermissions', { env: {}, uid: undefined });
    for (const mode of PERMISSION_MODES.filter((other) => other !== 'bypassPermissions')) {
      refuseRootBypass(mode, { env: {}, uid: 0 });
    }
  });
});
