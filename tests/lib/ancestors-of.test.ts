import { expect, test } from 'vitest';
import { ancestorsOf } from '../../src/lib/ancestors-of.js';

const walk = (start: string, parents: Record<string, string | null>) => [
  ...ancestorsOf(start, (id) => parents[id]),
];

test('ancestorsOf yields ancestors, nearest first', () => {
  expect(walk('c', { c: 'b', b: 'a', a: null })).toEqual(['b', 'a']);
  expect(walk('a', { a: null })).toEqual([]);
  expect(walk('x', {})).toEqual([]);
});

test('ancestorsOf stops at a cycle, with or without the start in it', () => {
  expect(walk('a', { a: 'a' })).toEqual([]);
  expect(walk('a', { a: 'b', b: 'a' })).toEqual(['b']);
  expect(walk('c', { c: 'b', b: 'a', a: 'b' })).toEqual(['b', 'a']);
});
