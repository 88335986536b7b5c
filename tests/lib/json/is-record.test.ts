import { expect, test } from 'vitest';
import { isRecord } from '../../../src/lib/json/is-record.js';

test('isRecord is true for objects, and false for null, arrays and primitives', () => {
  expect([{}, { a: 1 }, null, [], 'a', 1, undefined].map(isRecord)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});
