import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutText, fitText, foldLine, wrapWords } from '../../../src/terminal/text/fit-text.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';

describe('fitted text', () => {
  test('ends with an ellipsis if it was cut', () => {
    expect(cutText('mend the tests', 14)).toBe('mend the tests');
    expect(cutText('mend the tests', 9)).toBe('mend the…');
    expect([cutText('mend', 1), cutText('mend', 0), cutText('mend', -3)]).toEqual(['…', '', '']);
  });

  test('never splits a wide character', () => {
    expect(cutText('日本語の試験', 6)).toBe('日本…');
    for (let width = 1; width < 14; width += 1) {
      expect(textWidth(cutText('日本語の試験', width))).toBeLessThanOrEqual(width);
      expect(textWidth(fitText('日本語の試験', width, false))).toBe(width);
    }
  });

  test('is aligned to either side', () => {
    expect([fitText('5s', 4, true), fitText('5s', 4, false)]).toEqual(['  5s', '5s  ']);
  });

  test('is folded without splitting a colour sequence', () => {
    expect(foldLine('\u001b[2m(one two)\u001b[0m', 9)).toEqual(['\u001b[2m(one two)\u001b[0m']);
    expect(foldLine('\u001b[2m(one two)\u001b[0m', 5)).toEqual(['\u001b[2m(one ', 'two)\u001b[0m']);
  });

  test('is folded without losing a character, and each part fits', () => {
    const words = fc.string({ unit: fc.constantFrom('a', ' ', '字', 'é', '😀'), maxLength: 80 });
    fc.assert(
      fc.property(words, fc.integer({ min: 4, max: 30 }), (line, width) => {
        const parts = foldLine(line, width);
        expect(parts.join('')).toBe(line);
        for (const part of parts) expect(textWidth(part.trimEnd())).toBeLessThanOrEqual(width);
      }),
    );
    expect(foldLine('one two three', 8)).toEqual(['one two ', 'three']);
    expect(foldLine('incomprehensible', 6)).toEqual(['incomp', 'rehens', 'ible']);
  });

  test('is wrapped at words, after its indent', () => {
    expect(wrapWords('one two three', 9, '  ')).toEqual(['  one two', '  three']);
    expect(wrapWords('incomprehensible', 5)).toEqual(['incomprehensible']);
    expect(wrapWords('', 5)).toEqual(['']);
  });
});
