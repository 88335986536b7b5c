import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endOf, shortLine, startOf, withoutMiddle } from '../../src/tools/truncation.js';

const geese = '🪿'.repeat(10);

describe('a text that is cut', () => {
  test('has no half of a character at either end, wherever the cut falls', () => {
    const text = fc.string({ unit: 'grapheme' }).map((some) => `${geese}${some}${geese}`);
    fc.assert(
      fc.property(text, fc.nat(60), (whole, length) => {
        const pieces = [startOf(whole, length), endOf(whole, length), shortLine(whole, length)];
        const cut = [...pieces, withoutMiddle(whole, '…', length)];
        expect(cut.filter((piece) => !piece.isWellFormed())).toEqual([]);
      }),
    );
  });

  test('loses a whole character rather than half of one', () => {
    expect([startOf('a🪿b', 2), startOf('a🪿b', 3)]).toEqual(['a', 'a🪿']);
    expect([endOf('a🪿b', 2), endOf('a🪿b', 3)]).toEqual(['b', '🪿b']);
  });
});
