import { expect, test } from 'vitest';
import { shortIds } from '../../../src/terminal/format/short-ids.js';

test('short ids are just long enough to be unique', () => {
  const ids = ['a_abcdefghij', 'a_abcdefgxyz', 'a_zzzzzzzzzz'];
  expect([...shortIds(ids).values()]).toEqual(['a_abcdefgh', 'a_abcdefgx', 'a_zzzzz']);
});
