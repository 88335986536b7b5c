import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TerminalHost } from '../../../src/terminal/terminal-host.js';
import {
  cellsOf,
  chartStyle,
  EMPTY,
  FULL,
  shareBar,
  stackedBar,
  stroke,
} from '../../../src/terminal/text/bar-chart.js';

const PLAIN = { width: 80, unicode: true, coloured: false };

/** A machine at a terminal, in all that a chart looks at. */
const styleOn = (env: Record<string, string>, more: object = {}) =>
  chartStyle({
    env: { TERM: 'xterm', ...env },
    platform: 'linux',
    stdin: { isTTY: true },
    stdout: { isTTY: true, columns: 100 },
    ...more,
  } as unknown as TerminalHost);

describe('the cells of a bar', () => {
  const amounts = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e9, noNaN: true })), {
    minLength: 1,
    maxLength: 8,
  });

  test('fill it exactly, and show whatever is not nothing', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 8, max: 200 }), (given, width) => {
        const cells = cellsOf(given, width);
        const isEmpty = given.every((amount) => amount === 0);
        expect(cells.reduce((sum, cell) => sum + cell, 0)).toBe(isEmpty ? 0 : width);
        expect(cells.map((cell) => cell > 0)).toEqual(given.map((amount) => amount > 0));
      }),
    );
  });

  test('follow the amounts: more is never shown as less', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 20, max: 200 }), (given, width) => {
        const cells = cellsOf(given, width);
        const sorted = [...given.keys()].sort((a, b) => (given[a] ?? 0) - (given[b] ?? 0));
        const widths = sorted.map((index) => cells[index] ?? 0);
        for (const [at, cell] of widths.entries()) {
          // Cells are whole: what is nearly alike may differ by one.
          expect(cell).toBeGreaterThanOrEqual((widths[at - 1] ?? 0) - 1);
        }
      }),
    );
  });
});

describe('a bar', () => {
  test('shows a share and its rest', () => {
    expect(shareBar(0.25, 8, PLAIN)).toBe('██······');
    expect(shareBar(1, 4, PLAIN)).toBe('████');
    expect(shareBar(0, 4, PLAIN)).toBe('····');
    expect(shareBar(0.25, 8, { ...PLAIN, unicode: false })).toBe('##......');
  });

  test('stacks its parts in order, each with its own sign', () => {
    const parts = [
      { amount: 1, ink: FULL },
      { amount: 3, ink: EMPTY },
    ];
    expect(stackedBar(parts, 8, PLAIN)).toBe('██······');
  });

  test('has colours only where they are wanted, and never an empty sequence', () => {
    expect(stroke(FULL, 2, { ...PLAIN, coloured: true })).toBe('\u001b[36m██\u001b[0m');
    expect(stroke(FULL, 0, { ...PLAIN, coloured: true })).toBe('');
  });
});

describe('the style of a chart', () => {
  test.each([
    [{ LANG: 'C.UTF-8' }, true],
    [{ LANG: 'en_GB.utf8' }, true],
    [{ LANG: 'C' }, false],
    [{ LANG: 'C.UTF-8', LC_ALL: 'POSIX' }, false],
    [{ LANG: 'C', LC_ALL: '', LC_CTYPE: 'de_DE.UTF-8' }, true],
    [{ LANG: 'C.UTF-8', TERM: 'dumb' }, false],
    [{}, false],
  ])('has blocks where the locale knows them: %j', (env, unicode) => {
    expect(styleOn(env).unicode).toBe(unicode);
  });

  test('takes a Mac without a locale for one that shows everything', () => {
    expect(styleOn({}, { platform: 'darwin' }).unicode).toBe(true);
  });

  test('has no colours with NO_COLOR, in a pipe or on a dumb terminal', () => {
    expect(styleOn({}).coloured).toBe(true);
    expect(styleOn({ NO_COLOR: '1' }).coloured).toBe(false);
    expect(styleOn({}, { stdout: {} }).coloured).toBe(false);
    expect(styleOn({ TERM: 'dumb' }).coloured).toBe(false);
  });

  test('is as wide as the terminal, within reason', () => {
    expect(styleOn({}, { stdout: { columns: 90 } }).width).toBe(90);
    expect(styleOn({}, { stdout: {} }).width).toBe(100);
    expect(styleOn({}, { stdout: { columns: 400 } }).width).toBe(120);
    expect(styleOn({}, { stdout: { columns: 3 } }).width).toBe(40);
  });
});
