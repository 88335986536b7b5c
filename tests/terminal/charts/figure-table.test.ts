import { describe, expect, test } from 'vitest';
import { alignColumns } from '../../../src/terminal/charts/figure-table.js';

describe('a table of figures', () => {
  test('aligns its columns', () => {
    const rows = [
      ['a', '1', 'x'],
      ['long', '22', ''],
    ];
    expect(alignColumns(rows, [1])).toBe('a      1  x\nlong  22');
  });
});
