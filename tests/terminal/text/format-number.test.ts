import { describe, expect, test } from 'vitest';
import {
  formatBytes,
  formatMoney,
  formatPercent,
  plural,
} from '../../../src/terminal/text/format-number.js';

describe('formatted numbers', () => {
  test('are money, with "unknown" for null', () => {
    expect([null, 0, 0.00042, 0.5, 12.345].map(formatMoney)).toEqual([
      'unknown',
      '$0.0000',
      '$0.0004',
      '$0.5000',
      '$12.35',
    ]);
  });

  test('are sizes with a unit', () => {
    expect([0, 999, 1_500, 123_456, 5_000_000_000].map(formatBytes)).toEqual([
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

  test('are percentages with a decimal place only if needed', () => {
    expect([0, 100, 99.9, 12.5].map(formatPercent)).toEqual(['0 %', '100 %', '99.9 %', '12.5 %']);
  });
});
