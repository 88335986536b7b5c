import { describe, expect, test } from 'vitest';
import { modeSwitch } from '../../../src/actors/permissions/mode-switch.js';
import type { PermissionMode } from '../../../src/protocol/permission/permission-mode.js';
import { UsageError } from '../../../src/protocol/skein-error.js';

const only = (...allowed: readonly PermissionMode[]) => {
  return (mode: PermissionMode) => {
    if (!allowed.includes(mode)) throw new UsageError('Not here.');
  };
};

describe('modeSwitch', () => {
  test('notifies its listener of every change, including the end of plan mode, until it unsubscribes', () => {
    const modes: string[] = [];
    const mode = modeSwitch('acceptEdits');
    const unsubscribe = mode.listen(() => modes.push(mode.mode));
    mode.change('plan');
    expect(mode.leavePlan()).toBe('acceptEdits');
    unsubscribe();
    mode.change('default');
    expect(modes).toEqual(['plan', 'acceptEdits']);
  });

  test('rejects a mode that is not allowed and does not notify', () => {
    const mode = modeSwitch('default', only('default'));
    mode.listen(() => expect.unreachable());
    expect(() => mode.change('bypassPermissions')).toThrow('Not here.');
    expect(mode.mode).toBe('default');
  });

  test('follows the mode of the lead if all modes are allowed', () => {
    const mode = modeSwitch('default');
    mode.follow('bypassPermissions');
    expect(mode.mode).toBe('bypassPermissions');
    mode.follow('plan');
    expect(mode.mode).toBe('plan');
  });

  test('follows to a stricter mode that is not allowed, and not to a looser mode', () => {
    const mode = modeSwitch('acceptEdits', only('acceptEdits'));
    mode.follow('dontAsk');
    expect(mode.mode).toBe('dontAsk');
    mode.follow('bypassPermissions');
    expect(mode.mode).toBe('acceptEdits');
  });
});
