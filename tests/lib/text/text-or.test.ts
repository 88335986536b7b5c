import { expect, test } from 'vitest';
import { textOr } from '../../../src/lib/text/text-or.js';

test('textOr keeps strings and replaces all other values', () => {
  expect(['a', '', 1, undefined].map((value) => textOr(value, null))).toEqual([
    'a',
    '',
    null,
    null,
  ]);
});
