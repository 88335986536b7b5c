import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPathInside } from '../../../src/lib/paths/is-path-inside.js';
import { pathBelow } from '../../../src/lib/paths/path-below.js';
import { absolutePath } from '../../../src/policy/paths/resolved-paths.js';

describe('paths below a folder', () => {
  test.each([
    ['/repo', '/repo', true],
    ['/repo', '/repo/a', true],
    ['/repo/', '/repo/a/', true],
    ['/repo/.', '/repo/a/..', true],
    ['/', '/anything', true],
    ['/repo', '/repo2', false],
    ['/repo', '/repo2/a', false],
    ['/repo', '/repo/../etc', false],
    ['/repo', '/repo/..', false],
    ['/repo', '/rep', false],
    ['/repo', '/Repo/a', false],
    ['/repo', '/repo/..a', true],
    ['/repo', '/repo\\..\\etc', false],
  ])('%s contains %s: %s', (root, path, expected) => {
    expect(isPathInside({ path, folder: root })).toBe(expected);
  });

  test('ignore case and Unicode composition if the disk does', () => {
    expect(isPathInside({ path: '/rEPO/a', folder: '/Repo', ignoreCase: true })).toBe(true);
    expect(isPathInside({ path: '/cafe\u0301/a', folder: '/caf\u00e9', ignoreCase: true })).toBe(
      true,
    );
    expect(isPathInside({ path: '/repo2/a', folder: '/Repo', ignoreCase: true })).toBe(false);
  });

  const name = fc.constantFrom('a', 'b', 'ab', '..', '.', '', '...', 'a..', ' ');
  const path = fc.array(name, { maxLength: 8 }).map((names) => `/${names.join('/')}`);

  test('start with the names of the folder', () => {
    const names = (path: string) => resolve(path).split('/').filter(Boolean);
    fc.assert(
      fc.property(path, path, (root, place) => {
        const leads = names(root).every((name, index) => names(place)[index] === name);
        expect(isPathInside({ path: place, folder: root })).toBe(leads);
      }),
    );
  });

  test('have a relative path that resolves to the path again', () => {
    fc.assert(
      fc.property(path, path, (root, place) => {
        const below = pathBelow({ path: place, folder: root, ignoreCase: false });
        fc.pre(below !== undefined);
        expect(resolve(root, below)).toBe(resolve(place));
      }),
    );
  });
});

test('a path is relative to the home, the root or the working directory', () => {
  const at = (target: string) => absolutePath(target, '/repo/src', '/home/ada');
  expect([at('~'), at('~/a'), at('/a'), at('a'), at('../a'), at(''), at('~ada')]).toEqual([
    '/home/ada',
    '/home/ada/a',
    '/a',
    '/repo/src/a',
    '/repo/a',
    '/repo/src',
    '/repo/src/~ada',
  ]);
});
