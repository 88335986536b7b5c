import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../src/lib/json/canonical-json.js';
import { anyInput } from '../../protocol/journal-records.js';

/** The same value with the keys of all objects in reverse order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]));
};

describe('canonical JSON', () => {
  test('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        expect(canonicalJson(reversed(input))).toBe(canonicalJson(input));
      }),
    );
    expect(canonicalJson({ b: 1, a: { d: [2, 1], c: null } })).toBe(
      '{"a":{"c":null,"d":[2,1]},"b":1}',
    );
  });

  test('parses to the same value as JSON.stringify', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        expect(JSON.parse(canonicalJson(input))).toEqual(JSON.parse(JSON.stringify(input)));
      }),
    );
  });

  test('differs for different arrays, and keeps the key __proto__', () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
    expect(canonicalJson({ a: undefined })).toBe('{}');
    expect(canonicalJson(undefined)).toBe('null');
  });
});
