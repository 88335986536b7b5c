import { expect, test } from 'vitest';
import { parseJson } from '../../../src/lib/json/parse-json.js';

test.each([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  ['', undefined],
  ['{"a":', undefined],
])('parseJson of %j is %j', (text, value) => {
  expect(parseJson(text)).toEqual(value);
});
