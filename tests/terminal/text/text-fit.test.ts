import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cut, fitted, folded } from '../../../src/terminal/text/text-fit.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';

describe('text that is made to fit', () => {
  test('says that something is left out', () => {
    expect(cut('mend the tests', 14)).toBe('mend the tests');
    expect(cut('mend the tests', 9)).toBe('mend the…');
    expect([cut('mend', 1), cut('mend', 0), cut('mend', -3)]).toEqual(['…', '', '']);
  });

  test('never takes half of a wide character', () => {
    expect(cut('日本語の試験', 6)).toBe('日本…');
    for (let width = 1; width < 14; width += 1) {
      expect(textWidth(cut('日本語の試験', width))).toBeLessThanOrEqual(width);
      expect(textWidth(fitted('日本語の試験', width, false))).toBe(width);
    }
  });

  test('stands at either side', () => {
    expect([fitted('5s', 4, true), fitted('5s', 4, false)]).toEqual(['  5s', '5s  ']);
  });

  test('is folded without a cut through its colours', () => {
    expect(folded('\u001b[2m(one two)\u001b[0m', 9)).toEqual(['\u001b[2m(one two)\u001b[0m']);
    expect(folded('\u001b[2m(one two)\u001b[0m', 5)).toEqual(['\u001b[2m(one ', 'two)\u001b[0m']);
  });

  test('is folded without losing a letter, and each part fits', () => {
    const words = fc.string({ unit: fc.constantFrom('a', ' ', '字', 'é', '😀'), maxLength: 80 });
    fc.assert(
      fc.property(words, fc.integer({ min: 4, max: 30 }), (line, width) => {
        const parts = folded(line, width);
        expect(parts.join('')).toBe(line);
        for (const part of parts) expect(textWidth(part.trimEnd())).toBeLessThanOrEqual(width);
      }),
    );
    expect(folded('one two three', 8)).toEqual(['one two ', 'three']);
    expect(folded('incomprehensible', 6)).toEqual(['incomp', 'rehens', 'ible']);
  });
});
