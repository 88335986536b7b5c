import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { charactersOf, textWidth } from '../../../src/terminal/text/text-width.js';

describe('the width of a text', () => {
  test.each([
    ['plain letters', 'hello', 5],
    ['Chinese', '漢字', 4],
    ['an accent of its own', 'e\u0301', 1],
    ['an emoji', '🚀', 2],
    ['an emoji that a hint makes one', '✔\ufe0f', 2],
    ['a family', '👩‍👩‍👧', 2],
    ['a flag', '🇫🇷', 2],
    ['lines of a box', '─│╭', 3],
    ['a hand and its skin, which some terminals show apart', '✋🏽', 4],
    ['syllables, whose letters some show apart', 'नमस्ते', 4],
    ['a family of two skins', '👩🏽‍🤝‍👩', 4],
    ['letters in colours', '\u001b[31m漢a\u001b[0m', 3],
    ['nothing', '', 0],
  ])('counts %s', (_, text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  test('is a column for letters, lines and signs, also beside others', () => {
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

  test('takes a colour for one character without a width', () => {
    expect([...charactersOf('\u001b[1;31m漢\u001b[0m')]).toEqual([
      '\u001b[1;31m',
      '漢',
      '\u001b[0m',
    ]);
    expect(textWidth('\u001b[1;31m')).toBe(0);
  });

  test('finds the same characters in a text of any length', () => {
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

  test('keeps what people see as one character in one piece', () => {
    expect([...charactersOf('a👩‍👩‍👧e\u0301')]).toEqual(['a', '👩‍👩‍👧', 'e\u0301']);
  });
});
