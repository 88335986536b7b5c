import { describe, expect, test } from 'vitest';
import {
  bytes,
  columns,
  money,
  percent,
  plural,
  wrapped,
} from '../../../src/terminal/text/format-numbers.js';

describe('figures', () => {
  test('are money, with "unknown" for what is not known', () => {
    expect([null, 0, 0.00042, 0.5, 12.345].map(money)).toEqual([
      'unknown',
      '$0.0000',
      '$0.0004',
      '$0.5000',
      '$12.35',
    ]);
  });

  test('are sizes', () => {
    expect([0, 999, 1_500, 123_456, 5_000_000_000].map(bytes)).toEqual([
      '0 bytes',
      '999 bytes',
      '1.5 KB',
      '123 KB',
      '5.0 GB',
    ]);
  });

  test('agree with their noun', () => {
    expect([0, 1, 2, 1_000].map((value) => plural(value, 'turn'))).toEqual([
      '0 turns',
      '1 turn',
      '2 turns',
      '1,000 turns',
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

describe('lines', () => {
  test('are wrapped at words, behind their indent', () => {
    expect(wrapped('one two three', 9, '  ')).toEqual(['  one two', '  three']);
    expect(wrapped('incomprehensible', 5)).toEqual(['incomprehensible']);
    expect(wrapped('', 5)).toEqual(['']);
  });

  test('have per cent with a digit behind the point where there is one', () => {
    expect([0, 100, 99.9, 12.5].map(percent)).toEqual(['0 %', '100 %', '99.9 %', '12.5 %']);
  });
});
