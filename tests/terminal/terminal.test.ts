import { describe, expect, test } from 'vitest';
import { isCapableTerminal, paintFor, ringBell, wantsColour } from '../../src/terminal/terminal.js';
import type { TerminalHost } from '../../src/terminal/terminal-host.js';

const machineWith = (env: Record<string, string>, stdin = true, stdout = true) =>
  ({ env, stdin: { isTTY: stdin }, stdout: { isTTY: stdout } }) as unknown as TerminalHost;

describe('a terminal', () => {
  test.each([
    ['xterm', { TERM: 'xterm-256color' }, true],
    ['dumb', { TERM: 'dumb' }, false],
    ['without a name', {}, false],
    ['with an empty name', { TERM: '' }, false],
  ])('that is %s is capable: %s', (_, env, isCapable) => {
    expect(isCapableTerminal(machineWith(env))).toBe(isCapable);
  });

  test('is capable only when both ends are one', () => {
    expect(isCapableTerminal(machineWith({ TERM: 'xterm' }, false, true))).toBe(false);
    expect(isCapableTerminal(machineWith({ TERM: 'xterm' }, true, false))).toBe(false);
  });

  test('has colours unless it cannot or nobody wants them', () => {
    expect(wantsColour(machineWith({ TERM: 'xterm' }))).toBe(true);
    expect(wantsColour(machineWith({ TERM: 'xterm', NO_COLOR: '1' }))).toBe(false);
    expect(wantsColour(machineWith({ TERM: 'xterm', NO_COLOR: '' }))).toBe(true);
    expect(wantsColour(machineWith({ TERM: 'dumb' }))).toBe(false);
  });

  test.each([
    [true, '\u0007'],
    [false, ''],
  ])('rings where there is one: %s', (isTTY, sound) => {
    let written = '';
    const out = (text: string) => {
      written += text;
    };
    ringBell({ stdout: { isTTY, columns: 80, rows: 24 }, out });
    expect(written).toBe(sound);
  });

  test('is painted only where it has colours', () => {
    expect(paintFor(true).alarm('no')).toBe('\u001b[31mno\u001b[0m');
    for (const paint of Object.values(paintFor(false))) expect(paint('no')).toBe('no');
  });
});
