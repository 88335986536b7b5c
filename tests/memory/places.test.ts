import { describe, expect, test } from 'vitest';
import { isInside, pathBelow } from '../../src/memory/places.js';

describe('A folder', () => {
  test.each([
    ['/repo', '/repo', true],
    ['/repo', '/repo/src/x.ts', true],
    ['/repo', '/repo2', false],
    ['/repo', '/repo2/x.ts', false],
    ['/repo', '/rep', false],
    ['/repo', '/', false],
    ['/', '/repo', true],
    ['/', '/', true],
  ])('%s has %s in it: %s', (folder, path, isIn) => {
    expect(isInside(folder, path)).toBe(isIn);
  });

  test.each([
    ['/repo', '/repo/src/x.ts', 'src/x.ts'],
    ['/repo', '/repo/src/../x.ts', 'x.ts'],
    ['/', '/x.ts', 'x.ts'],
    ['/repo', '/repo', undefined],
    ['/repo', '/repo2/x.ts', undefined],
    ['/repo', '/repo/../x.ts', undefined],
  ])('%s knows %s as %s', (base, path, below) => {
    expect(pathBelow(base, path)).toBe(below);
  });
});
