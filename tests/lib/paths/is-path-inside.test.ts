import { describe, expect, test } from 'vitest';
import { isPathInside } from '../../../src/lib/paths/is-path-inside.js';

describe('isPathInside', () => {
  test.each([
    ['/repo', '/repo', true],
    ['/repo', '/repo/src/x.ts', true],
    ['/repo/', '/repo/src/', true],
    ['/repo', '/repo/..a', true],
    ['/', '/repo', true],
    ['/', '/', true],
    ['/repo', '/repo2', false],
    ['/repo', '/rep', false],
    ['/repo', '/', false],
    ['/repo', '/repo/../etc', false],
    ['/repo', 'repo/x.ts', false],
    ['repo', '/repo/x.ts', false],
  ])('for the folder %s and the path %s is %s', (folder, path, isInside) => {
    expect(isPathInside({ path, folder })).toBe(isInside);
  });

  test('is false for the folder itself with orSame: false', () => {
    expect(isPathInside({ path: '/repo/', folder: '/repo', orSame: false })).toBe(false);
    expect(isPathInside({ path: '/repo/x', folder: '/repo', orSame: false })).toBe(true);
  });

  test('ignores case on request', () => {
    expect(isPathInside({ path: '/rEPO/a', folder: '/Repo' })).toBe(false);
    expect(isPathInside({ path: '/rEPO/a', folder: '/Repo', ignoreCase: true })).toBe(true);
    expect(isPathInside({ path: '/repo2/a', folder: '/Repo', ignoreCase: true })).toBe(false);
  });
});
