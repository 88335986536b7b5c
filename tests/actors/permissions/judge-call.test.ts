import { describe, expect, test } from 'vitest';
import {
  judgeCall,
  refusalNow,
  type ValidCall,
} from '../../../src/actors/permissions/judge-call.js';
import { modeSwitch } from '../../../src/actors/permissions/mode-switch.js';
import { permissionManager } from '../../../src/actors/permissions/permission-manager.js';
import { signingSurface } from '../../../src/actors/permissions/signing-surface.js';
import { systemClock } from '../../../src/protocol/clock.js';
import { builtinTools } from '../../../src/tools/builtin-tools.js';
import { toolbox } from '../../../src/tools/toolbox.js';

/** Write call that was judged in /repo, with a symbolic link that can be redirected. */
const judged = (file_path: string) => {
  let target = '/repo/inside';
  const realPath = (path: string) => path.replace(/^\/repo\/link/, target);
  const permissions = permissionManager({
    policy: {
      rules: [],
      roots: ['/repo'],
      home: '/home/ada',
      skeinHome: '/home/ada/.skein',
      realPath,
    },
    mode: modeSwitch('default'),
    surfaces: [signingSurface('p', { ask: async () => ({ behavior: 'allow' }) }, systemClock)],
    permissionTimeoutMs: 1_000,
    keepRule: () => undefined,
  });
  const requested = { id: 'c', tool: 'Write', input: { file_path, content: '' } };
  const judgement = judgeCall(requested, toolbox(builtinTools), permissions, '/repo');
  if (judgement.kind !== 'judged') throw new Error(judgement.message);
  return {
    call: judgement.call,
    redirect: (place: string) => {
      target = place;
    },
    now: (call: ValidCall, cwd = '/repo', isApproved = true) =>
      refusalNow(call, permissions, cwd, isApproved)?.step,
  };
};

describe('a call that a person has approved', () => {
  test('is not refused while its path resolves to the same file', () => {
    const { call, now } = judged('link/a');
    expect(now(call)).toBeUndefined();
    expect(now(judged('/repo/a').call, '/elsewhere')).toBeUndefined();
  });

  test('is refused if its path resolves to another file', () => {
    const { call, now, redirect } = judged('link/a');
    expect(now(call, '/elsewhere')).toBe('callback');
    redirect('/etc');
    expect(now(call)).toBe('callback');
    redirect('/home/ada/.skein');
    expect(now(call)).toBe('deny');
  });

  test('is refused without the approval', () => {
    const { call, now } = judged('link/a');
    expect(now(call, '/repo', false)).toBe('callback');
  });
});
