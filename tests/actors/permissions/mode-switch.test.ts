import { describe, expect, test } from 'vitest';
import { modeSwitch } from '../../../src/actors/permissions/mode-switch.js';
import type { PermissionMode } from '../../../src/protocol/permission/permission-mode.js';
import { UsageError } from '../../../src/protocol/skein-error.js';

const only = (...allowed: readonly PermissionMode[]) => {
  return (mode: PermissionMode) => {
    if (!allowed.includes(mode)) throw new UsageError('Not here.');
  };
};

describe('a switch for the permission mode', () => {
  test('tells of every change, also of the end of plan mode, until nobody listens', () => {
    const heard: string[] = [];
    const mode = modeSwitch('acceptEdits');
    const forget = mode.listen(() => heard.push(mode.mode));
    mode.change('plan');
    expect(mode.leavePlan()).toBe('acceptEdits');
    forget();
    mode.change('default');
    expect(heard).toEqual(['plan', 'acceptEdits']);
  });

  test('tells nothing of a mode that may not be used', () => {
    const mode = modeSwitch('default', only('default'));
    mode.listen(() => expect.unreachable());
    expect(() => mode.change('bypassPermissions')).toThrow('Not here.');
    expect(mode.mode).toBe('default');
  });

  test('follows a lead wherever it may', () => {
    const mode = modeSwitch('default');
    mode.follow('bypassPermissions');
    expect(mode.mode).toBe('bypassPermissions');
    mode.follow('plan');
    expect(mode.mode).toBe('plan');
  });

  test('follows to what is stricter, and not to what is looser, where neither may be chosen', () => {
    const mode = modeSwitch('acceptEdits', only('acceptEdits'));
    mode.follow('dontAsk');
    expect(mode.mode).toBe('dontAsk');
    mode.follow('bypassPermissions');
    expect(mode.mode).toBe('acceptEdits');
  });
});
