import { expect, test } from 'vitest';
import { shortIds } from '../../../src/terminal/text/short-ids.js';

test('short ids are as long as they must be to tell them apart', () => {
  const ids = ['a_abcdefghij', 'a_abcdefgxyz', 'a_zzzzzzzzzz'];
  expect([...shortIds(ids).values()]).toEqual(['a_abcdefgh', 'a_abcdefgx', 'a_zzzzz']);
});
