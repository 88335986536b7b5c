import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { charactersOf, textWidth } from '../../../src/terminal/text/text-width.js';

describe('the width of a text', () => {
  test.each([
    ['plain letters', 'hello', 5],
    ['Chinese', '漢字', 4],
    ['a combining accent', 'e\u0301', 1],
    ['an emoji', '🚀', 2],
    ['a sign with an emoji variation selector', '✔\ufe0f', 2],
    ['a family emoji', '👩‍👩‍👧', 2],
    ['a flag', '🇫🇷', 2],
    ['box-drawing lines', '─│╭', 3],
    ['a hand with a skin tone, which some terminals show as two characters', '✋🏽', 4],
    ['Devanagari syllables, which some terminals show as separate letters', 'नमस्ते', 4],
    ['a pair emoji with a skin tone', '👩🏽‍🤝‍👩', 4],
    ['letters in colours', '\u001b[31m漢a\u001b[0m', 3],
    ['an empty text', '', 0],
  ])('counts %s', (_, text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  test('is 1 for letters, lines and signs, alone and before a wide character', () => {
    const ranges = [
      [0x20, 0x7e],
      [0xa1, 0xac],
      [0xae, 0x2ff],
      [0x2010, 0x2027],
      [0x2190, 0x21ff],
      [0x2500, 0x25fc],
      [0x2713, 0x2713],
      [0x2717, 0x2717],
    ];
    for (const [from = 0, to = 0] of ranges) {
      for (let code = from; code <= to; code += 1) {
        const sign = String.fromCodePoint(code);
        expect([sign, textWidth(sign), textWidth(`${sign}漢`)]).toEqual([sign, 1, 3]);
      }
    }
  });

  test('is 0 for a colour sequence, which is a single character', () => {
    expect([...charactersOf('\u001b[1;31m漢\u001b[0m')]).toEqual([
      '\u001b[1;31m',
      '漢',
      '\u001b[0m',
    ]);
    expect(textWidth('\u001b[1;31m')).toBe(0);
  });

  test('is based on the same characters as Intl.Segmenter for long texts', () => {
    const parts = fc.constantFrom(
      'a',
      '漢',
      '👩‍👩‍👧',
      'e\u0301',
      '✋🏽',
      '🇫🇷',
      'स्ते',
      '\u0301'.repeat(40),
    );
    fc.assert(
      fc.property(fc.array(parts, { minLength: 300, maxLength: 900 }), (pieces) => {
        const text = pieces.join('');
        const known = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
        expect([...charactersOf(text)]).toEqual(known);
      }),
      { numRuns: 30 },
    );
  });

  test('is based on visible characters, not on code points', () => {
    expect([...charactersOf('a👩‍👩‍👧e\u0301')]).toEqual(['a', '👩‍👩‍👧', 'e\u0301']);
  });
});
