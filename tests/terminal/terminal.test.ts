import { describe, expect, test } from 'vitest';
import { isCapableTerminal, paintFor, ringBell, wantsColour } from '../../src/terminal/terminal.js';
import type { TerminalHost } from '../../src/terminal/terminal-host.js';

const hostWith = (env: Record<string, string>, stdin = true, stdout = true) =>
  ({ env, stdin: { isTTY: stdin }, stdout: { isTTY: stdout } }) as unknown as TerminalHost;

describe('a terminal', () => {
  test.each([
    ['xterm', { TERM: 'xterm-256color' }, true],
    ['dumb', { TERM: 'dumb' }, false],
    ['without a name', {}, false],
    ['with an empty name', { TERM: '' }, false],
  ])('that is %s is capable: %s', (_, env, isCapable) => {
    expect(isCapableTerminal(hostWith(env))).toBe(isCapable);
  });

  test('is capable only if both stdin and stdout are terminals', () => {
    expect(isCapableTerminal(hostWith({ TERM: 'xterm' }, false, true))).toBe(false);
    expect(isCapableTerminal(hostWith({ TERM: 'xterm' }, true, false))).toBe(false);
  });

  test('has colours unless it is dumb or NO_COLOR is set', () => {
    expect(wantsColour(hostWith({ TERM: 'xterm' }))).toBe(true);
    expect(wantsColour(hostWith({ TERM: 'xterm', NO_COLOR: '1' }))).toBe(false);
    expect(wantsColour(hostWith({ TERM: 'xterm', NO_COLOR: '' }))).toBe(true);
    expect(wantsColour(hostWith({ TERM: 'dumb' }))).toBe(false);
  });

  test.each([
    [true, '\u0007'],
    [false, ''],
  ])('rings the bell only if stdout is a terminal: %s', (isTTY, sound) => {
    let written = '';
    const out = (text: string) => {
      written += text;
    };
    ringBell({ stdout: { isTTY, columns: 80, rows: 24 }, out });
    expect(written).toBe(sound);
  });

  test('gets escape sequences only if it has colours', () => {
    expect(paintFor(true).alarm('no')).toBe('\u001b[31mno\u001b[0m');
    for (const paint of Object.values(paintFor(false))) expect(paint('no')).toBe('no');
  });
});
