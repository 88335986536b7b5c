import { expect, test } from 'vitest';
import { asText } from '../../../src/lib/text/as-text.js';

test('asText keeps strings and returns an empty string for other values', () => {
  expect(['a', '', 1, null, undefined, {}].map(asText)).toEqual(['a', '', '', '', '', '']);
});
