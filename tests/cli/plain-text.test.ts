import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytes, columns, money, plainText, plural } from '../../src/cli/plain-text.js';

describe('text from outside', () => {
  test.each([
    ['colours', '\u001B[31mred\u001B[0m', 'red'],
    ['titles of the window', '\u001B]0;owned\u0007after', 'after'],
    ['line ends', 'one\r\ntwo\n\n  three\t.', 'one two three .'],
    ['controls that turn text around', 'a\u202Eb\u2066c\u200F', 'abc'],
    ['characters without a shape', 'a\u200Bb\uFEFFc\u{E0041}d', 'abcd'],
    ['bells and backspaces', 'a\u0007\u0008\u0000b', 'ab'],
    ['halves of characters', 'a\uD800b', 'a\uFFFDb'],
  ])('loses its %s', (_, given, shown) => {
    expect(plainText(given)).toBe(shown);
  });

  test('keeps letters of every script, and emoji that are joined', () => {
    expect(plainText('naïve 日本 👩‍👩‍👧')).toBe('naïve 日本 👩‍👩‍👧');
  });

  test('is one line of bounded length, whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const shown = plainText(text, 50);
        expect(Array.from(shown).length).toBeLessThanOrEqual(50);
        expect(shown).not.toMatch(/[\p{Cc}\u2028-\u202E\u2066-\u2069]/u);
      }),
    );
    expect(plainText('x'.repeat(1_000_000), 10)).toBe('xxxxxxxxx…');
  });
});

describe('figures', () => {
  test('are money, with "unknown" for what is not known', () => {
    expect([null, 0, 0.00042, 0.5, 12.345].map(money)).toEqual([
      ...['unknown', '$0.0000', '$0.0004', '$0.5000', '$12.35'],
    ]);
  });

  test('are sizes', () => {
    expect([0, 999, 1_500, 123_456, 5_000_000_000].map(bytes)).toEqual([
      ...['0 bytes', '999 bytes', '1.5 KB', '123 KB', '5.0 GB'],
    ]);
  });

  test('agree with their noun', () => {
    expect([0, 1, 2, 1_000].map((value) => plural(value, 'turn'))).toEqual([
      ...['0 turns', '1 turn', '2 turns', '1,000 turns'],
    ]);
  });

  test('stand in columns', () => {
    const rows = [
      ['a', '1', 'x'],
      ['long', '22', ''],
    ];
    expect(columns(rows, [1])).toBe('a      1  x\nlong  22');
  });
});
