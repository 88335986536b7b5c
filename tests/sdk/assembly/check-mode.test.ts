import { describe, expect, test } from 'vitest';
import { checkMode } from '../../../src/sdk/assembly/check-mode.js';
import { all, program } from '../api/program.js';

const user = { env: {}, uid: 1000 };

describe('a change of the mode', () => {
  test('is refused if the managed policy sets another mode, except plan mode', () => {
    const file = '/etc/skein/managed-settings.json';
    const mode = { value: 'dontAsk', source: 'policy', file } as const;
    const change = (requested: 'plan' | 'dontAsk' | 'acceptEdits') =>
      checkMode(requested, user, { mode });
    change('plan');
    change('dontAsk');
    expect(() => change('acceptEdits')).toThrow(`The managed policy ${file} sets the mode dontAsk`);
  });

  test('to bypassPermissions is refused for root and if it is disabled', () => {
    const mode = { value: 'default', source: 'default' } as const;
    const bypass = (uid: number, more: object) =>
      checkMode('bypassPermissions', { env: {}, uid }, { mode, ...more });
    bypass(1000, {});
    expect(() => bypass(0, {})).toThrow('refused for root');
    expect(() => bypass(1000, { bypassDisabledBy: '/x.json' })).toThrow('disabled by /x.json');
  });

  test.runIf(process.geteuid?.() === 0)('is refused for root in a program too', async () => {
    const { ask, options } = await program();
    const { IS_SANDBOX: _, ...env } = options.env ?? {};
    const run = all(ask('go', { permissionMode: 'bypassPermissions', env }));
    await expect(run).rejects.toThrow('refused for root');
  });
});
