import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  allotCells,
  EMPTY_FILL,
  FULL_FILL,
  fillCells,
  shareBar,
  stackedBar,
} from '../../../src/terminal/charts/stacked-bar.js';

const PLAIN = { width: 80, unicode: true, coloured: false };

describe('the cells of a bar', () => {
  const amounts = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e9, noNaN: true })), {
    minLength: 1,
    maxLength: 8,
  });

  test('fill the bar exactly and show every positive amount', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 8, max: 200 }), (given, width) => {
        const cells = allotCells(given, width);
        const isEmpty = given.every((amount) => amount === 0);
        expect(cells.reduce((sum, cell) => sum + cell, 0)).toBe(isEmpty ? 0 : width);
        expect(cells.map((cell) => cell > 0)).toEqual(given.map((amount) => amount > 0));
      }),
    );
  });

  test('follow the order of the amounts', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 20, max: 200 }), (given, width) => {
        const cells = allotCells(given, width);
        const sorted = [...given.keys()].sort((a, b) => (given[a] ?? 0) - (given[b] ?? 0));
        const widths = sorted.map((index) => cells[index] ?? 0);
        for (const [at, cell] of widths.entries()) {
          // Cells are whole, so nearly equal amounts may differ by a cell.
          expect(cell).toBeGreaterThanOrEqual((widths[at - 1] ?? 0) - 1);
        }
      }),
    );
  });
});

describe('a bar', () => {
  test('shows a share and the remainder', () => {
    expect(shareBar(0.25, 8, PLAIN)).toBe('██······');
    expect(shareBar(1, 4, PLAIN)).toBe('████');
    expect(shareBar(0, 4, PLAIN)).toBe('····');
    expect(shareBar(0.25, 8, { ...PLAIN, unicode: false })).toBe('##......');
  });

  test('stacks its parts in order, each with its own character', () => {
    const parts = [
      { amount: 1, ink: FULL_FILL },
      { amount: 3, ink: EMPTY_FILL },
    ];
    expect(stackedBar(parts, 8, PLAIN)).toBe('██······');
  });

  test('has colours if they are enabled, and never an empty sequence', () => {
    expect(fillCells(FULL_FILL, 2, { ...PLAIN, coloured: true })).toBe('\u001b[36m██\u001b[0m');
    expect(fillCells(FULL_FILL, 0, { ...PLAIN, coloured: true })).toBe('');
  });
});
