import { expect, test } from 'vitest';
import { isRecord } from '../../../src/lib/json/is-record.js';

test('is true for objects, and for neither null nor arrays', () => {
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
