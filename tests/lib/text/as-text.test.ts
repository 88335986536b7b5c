import { expect, test } from 'vitest';
import { asText } from '../../../src/lib/text/as-text.js';

test('keeps strings and drops all other values', () => {
  expect(['a', '', 1, null, undefined, {}].map(asText)).toEqual(['a', '', '', '', '', '']);
});
