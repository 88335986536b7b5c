import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  keepEnd,
  truncateLine,
  truncateMiddle,
  truncateText,
} from '../../../src/tools/text/truncate-text.js';

const geese = '🪿'.repeat(10);

describe('a truncated text', () => {
  test('has no lone surrogate at any cut', () => {
    const text = fc.string({ unit: 'grapheme' }).map((middle) => `${geese}${middle}${geese}`);
    fc.assert(
      fc.property(text, fc.nat(60), (whole, length) => {
        const pieces = [
          truncateText(whole, length),
          keepEnd(whole, length),
          truncateLine(whole, length),
        ];
        const cut = [...pieces, truncateMiddle(whole, '…', length)];
        expect(cut.filter((piece) => !piece.isWellFormed())).toEqual([]);
      }),
    );
  });

  test('loses a whole character instead of a half', () => {
    expect([truncateText('a🪿b', 2), truncateText('a🪿b', 3)]).toEqual(['a', 'a🪿']);
    expect([keepEnd('a🪿b', 2), keepEnd('a🪿b', 3)]).toEqual(['b', '🪿b']);
  });
});
