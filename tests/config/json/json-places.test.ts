import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonPath, jsonPlaces } from '../../../src/config/json/json-places.js';

describe('line numbers in a JSON text', () => {
  test.each([
    ['tabs and short lines', '{\n\t"a": 1,\n\t"b": {\n\t\t"c": [\n\t\t\t1,\n\t\t\t"d"]}}', 6],
    ['Windows line ends', '{\r\n"a": 1,\r\n"b":\r\n{"c":\r\n[1,\r\n"d"]}}', 6],
    ['no line ends', '{"a":1,"b":{"c":[1,"d"]}}', 1],
    ['blank lines', '\n\n{"a":1,\n\n"b":{"c":[1\n,\n\n"d"]}}', 8],
  ])('are found with %s', (_, text, line) => {
    expect(jsonPlaces(text).lineOf(['b', 'c', 1])).toBe(line);
    expect(jsonPlaces(text).lineOf(['b', 'x', 1])).toBeUndefined();
  });

  test('refer to the name of a key, and to the last of repeated keys', () => {
    const { lineOf, repeated } = jsonPlaces('{\n"a":\n[1],\n"b": 1,\n"a": {\n"c": 2}}');
    expect(lineOf(['a'])).toBe(5);
    expect(lineOf(['a', 0])).toBeUndefined();
    expect(lineOf(['a', 'c'])).toBe(6);
    expect(repeated).toEqual([{ path: ['a'], line: 5, firstLine: 2 }]);
  });

  test('ignore quotes, brackets and line ends inside strings', () => {
    const text = '{"a\\"}": "[{\\n",\n"\\u0062": ["]", "\\\\",\n"}"]}';
    expect(jsonPlaces(text).lineOf(['b', 2])).toBe(3);
    expect(jsonPlaces(text).lineOf(['a"}'])).toBe(1);
  });

  test('are correct for every value of any JSON text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value, null, 1);
        const { lineOf, repeated } = jsonPlaces(text);
        expect(repeated).toEqual([]);
        const lines = text.split('\n');
        for (const { path, own } of leaves(value)) {
          expect(lines[(lineOf(path) ?? 0) - 1]).toContain(JSON.stringify(own));
        }
      }),
    );
  });

  test('are found in linear time', () => {
    const wide = `[${'1,'.repeat(200_000)}1]`;
    expect(jsonPlaces(wide).lineOf([200_000])).toBe(1);
    const keys = Array.from({ length: 50_000 }, (_, index) => `"${index}":1`).join(',');
    expect(jsonPlaces(`{${keys}\n,"z":1}`).lineOf(['z'])).toBe(2);
    const twice = `{${'"a":1,'.repeat(100_000)}"a":1}`;
    expect(jsonPlaces(twice).repeated).toHaveLength(20);
  });
});

const leaves = (value: unknown, path: JsonPath = []): { path: JsonPath; own: unknown }[] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, [...path, index]));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, item]) => leaves(item, [...path, key]));
  }
  return [{ path, own: value }];
};
