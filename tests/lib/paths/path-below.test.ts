import { expect, test } from 'vitest';
import { pathBelow } from '../../../src/lib/paths/path-below.js';

test.each([
  ['/repo', '/repo/src/x.ts', 'src/x.ts'],
  ['/repo', '/repo/src/../x.ts', 'x.ts'],
  ['/', '/x.ts', 'x.ts'],
  ['/repo', '/repo', ''],
  ['/repo', '/repo2/x.ts', undefined],
  ['/repo', '/repo/../x.ts', undefined],
  ['/repo', 'src/x.ts', undefined],
])('pathBelow for the folder %s and the path %s is %j', (folder, path, below) => {
  expect(pathBelow({ path, folder })).toBe(below);
});

test('pathBelow compares composed and decomposed characters as equal', () => {
  const folder = '/caf\u00e9';
  expect(pathBelow({ path: '/CAFE\u0301/x.ts', folder, ignoreCase: true })).toBe('x.ts');
});
