import { expect, test } from 'vitest';
import { countRegexPaths } from '../../../src/lib/text/count-regex-paths.js';

test('countRegexPaths returns an upper bound of the paths of a backtracking match', () => {
  expect(countRegexPaths('abc', 128)).toBe(1);
  expect(countRegexPaths('(a|b)(c|d)?', 128)).toBe(6);
  expect(countRegexPaths('[*+(]a\\+', 128)).toBe(1);
  expect(countRegexPaths('(?:ab)+', 128)).toBe(128);
  expect(countRegexPaths('a{3,500}', 10)).toBe(8);
  expect(countRegexPaths('(a|b)+', 128)).toBe(Number.POSITIVE_INFINITY);
});
