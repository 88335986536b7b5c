import { describe, expect, test } from 'vitest';
import { chartStyle } from '../../../src/terminal/charts/chart-style.js';
import type { TerminalHost } from '../../../src/terminal/terminal-host.js';

const styleOn = (env: Record<string, string>, more: object = {}) =>
  chartStyle({
    env: { TERM: 'xterm', ...env },
    platform: 'linux',
    stdin: { isTTY: true },
    stdout: { isTTY: true, columns: 100 },
    ...more,
  } as unknown as TerminalHost);

describe('the style of a chart', () => {
  test.each([
    [{ LANG: 'C.UTF-8' }, true],
    [{ LANG: 'en_GB.utf8' }, true],
    [{ LANG: 'C' }, false],
    [{ LANG: 'C.UTF-8', LC_ALL: 'POSIX' }, false],
    [{ LANG: 'C', LC_ALL: '', LC_CTYPE: 'de_DE.UTF-8' }, true],
    [{ LANG: 'C.UTF-8', TERM: 'dumb' }, false],
    [{}, false],
  ])('uses Unicode if the locale and the terminal support it: %j', (env, unicode) => {
    expect(styleOn(env).unicode).toBe(unicode);
  });

  test('uses Unicode on a Mac without a locale', () => {
    expect(styleOn({}, { platform: 'darwin' }).unicode).toBe(true);
  });

  test('has no colours with NO_COLOR, in a pipe or on a dumb terminal', () => {
    expect(styleOn({}).coloured).toBe(true);
    expect(styleOn({ NO_COLOR: '1' }).coloured).toBe(false);
    expect(styleOn({}, { stdout: {} }).coloured).toBe(false);
    expect(styleOn({ TERM: 'dumb' }).coloured).toBe(false);
  });

  test('is as wide as the terminal, from 40 to 120 columns', () => {
    expect(styleOn({}, { stdout: { columns: 90 } }).width).toBe(90);
    expect(styleOn({}, { stdout: {} }).width).toBe(100);
    expect(styleOn({}, { stdout: { columns: 400 } }).width).toBe(120);
    expect(styleOn({}, { stdout: { columns: 3 } }).width).toBe(40);
  });
});
