/** Checks on a real tree with random links that no path inside a root opens a file outside it. */
import {
  constants,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { realPath } from '../../../src/config/workspace/real-path.js';
import { isPathInside } from '../../../src/lib/paths/is-path-inside.js';
import { targetPaths, wordPaths } from '../../../src/policy/paths/resolved-paths.js';

const top = realpathSync(mkdtempSync(join(tmpdir(), 'skein-escape-')));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const environment = { home: join(top, 'home'), realPath, ignoreCase: false };

const NAMES = ['a', 'b', 'c', 'A', 'caf\u00e9', 'cafe\u0301', 'a.', 'a ', '...', '~', 'C:\\x'];
const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  { weight: 4, arbitrary: name },
  fc.constantFrom('..', '.', '', '', 'x\u0000y', 'n'.repeat(300)),
);
const steps = fc.array(step, { maxLength: 7 }).map((all) => all.join('/'));

const START = ['', './', '../repo2/', '../', '/', '//'];
const linkTarget = fc.oneof(
  steps,
  fc.tuple(fc.constantFrom(...START), steps).map((all) => all.join('')),
  fc
    .tuple(fc.constantFrom('repo', 'repo2', 'outside', 'home'), steps)
    .map((all) => join(top, ...all)),
  fc.constantFrom('/proc/self/root', '/proc/self/cwd', '/dev/fd/0', '/', '/etc'),
);
const where = fc.tuple(fc.constantFrom('repo', 'outside', 'repo/a', 'repo/b'), name);
const links = fc.array(fc.tuple(where, linkTarget), { minLength: 1, maxLength: 8 });

const anyPath = fc.oneof(
  steps,
  fc
    .tuple(
      fc.constantFrom(...START, '~/', '~root/', 'a/', 'b/', '/proc/self/root/', '/proc/self/cwd/'),
      steps,
    )
    .map((all) => all.join('')),
  fc
    .tuple(fc.constantFrom('repo', 'repo2', 'outside'), steps)
    .map(([first, rest]) => `${top}/${first}/${rest}`),
);

const createTree = (placed: readonly (readonly [readonly string[], string])[]) => {
  for (const folder of ['repo', 'repo2', 'outside', 'home']) {
    rmSync(join(top, folder), { recursive: true, force: true });
    mkdirSync(join(top, folder, 'a/b'), { recursive: true });
    mkdirSync(join(top, folder, 'b'));
    writeFileSync(join(top, folder, 'c'), folder);
    writeFileSync(join(top, folder, 'a/c'), folder);
  }
  for (const [[folder = '', leaf = ''], target] of placed) {
    try {
      const place = join(top, folder, leaf);
      // The folder may have become a link to a folder outside of the tree.
      if (realpathSync(join(top, folder)) !== join(top, folder)) continue;
      rmSync(place, { recursive: true, force: true });
      symlinkSync(target, place);
    } catch {
      // Some targets are invalid, and some folders no longer exist.
    }
  }
};

/** Returns the file that the system opens for this path as written, or undefined. */
const openedPath = async (path: string): Promise<string | undefined> => {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    return process.platform === 'linux'
      ? readlinkSync(`/proc/self/fd/${handle.fd}`)
      : realpathSync.native(path);
  } finally {
    await handle.close();
  }
};

/** Returns the path of a file that would be created: the real path of its folder and the new name. */
const createdPath = async (path: string) => {
  const existing = await openedPath(path);
  if (existing !== undefined) return existing;
  const folder = await openedPath(dirname(path));
  return folder === undefined ? undefined : join(folder, path.slice(dirname(path).length + 1));
};

describe('the path policy', () => {
  const root = join(top, 'repo');

  /** Expects that a path that the policy calls inside is inside when the kernel opens it. */
  const expectContained = (
    placesOf: (path: string) => readonly string[],
    open: (path: string) => Promise<string | undefined>,
  ) =>
    fc.assert(
      fc.asyncProperty(
        links,
        fc.array(anyPath, { minLength: 5, maxLength: 20 }),
        async (placed, paths) => {
          createTree(placed);
          for (const path of paths) {
            if (!placesOf(path).every((place) => isPathInside({ path: place, folder: root })))
              continue;
            const place = await open(path);
            const inside = isPathInside({ path: place ?? root, folder: root });
            expect({ path, place, inside }).toHaveProperty('inside', true);
          }
        },
      ),
      { numRuns: 120 },
    );

  test('allows no path of a file tool outside the workspace', async () => {
    await expectContained(
      (path) => targetPaths(path, root, environment),
      // File tools open the normalised path.
      (path) => openedPath(resolve(root, path.replace(/^~(?=\/|$)/, environment.home))),
    );
  }, 60_000);

  test('allows no word of a command outside the workspace', async () => {
    await expectContained(
      (path) => wordPaths(path, root, environment),
      // A shell opens the path as written, relative to its directory.
      (path) => createdPath(path.startsWith('/') ? path : `${root}/${path}`),
    );
  }, 60_000);

  test('resolves a dangling link from its real location', () => {
    createTree([]);
    symlinkSync(join(top, 'outside/a'), join(root, 'way'));
    symlinkSync('../new', join(top, 'outside/a/dangling'));
    expect(targetPaths('way/dangling', root, environment).at(-1)).toBe(join(top, 'outside/new'));
  });

  test('resolves `..` after a link in a command, and before it in a file tool', () => {
    createTree([]);
    symlinkSync(join(top, 'outside/a'), join(root, 'way'));
    expect(wordPaths('way/../c', root, environment)).toContain(join(top, 'outside/c'));
    expect(targetPaths('way/../c', root, environment)).toEqual([join(root, 'c')]);
  });

  test.each(['~root/x', '~nobody', 'C:\\Users\\ada', 'c:/x', '\\\\server\\share', 'c::$DATA'])(
    'treats a spelling of another system or shell as outside: %s',
    (word) => {
      createTree([]);
      expect(
        wordPaths(word, root, environment).every((place) =>
          isPathInside({ path: place, folder: root }),
        ),
      ).toBe(false);
    },
  );

  test('works for a workspace that is a link, by both paths', () => {
    createTree([]);
    symlinkSync(root, join(top, 'home/entry'));
    const entry = join(top, 'home/entry');
    const inside = (path: string) =>
      targetPaths(path, entry, environment).every(
        (place) =>
          isPathInside({ path: place, folder: entry }) ||
          isPathInside({ path: place, folder: root }),
      );
    expect([inside('c'), inside('../c'), inside(join(top, 'repo2/c'))]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('handles a loop of links without an escape or an exception', async () => {
    createTree([]);
    symlinkSync('y', join(root, 'x'));
    symlinkSync('x', join(root, 'y'));
    expect(
      targetPaths('x/../../outside/c', root, environment).every((place) =>
        isPathInside({ path: place, folder: root }),
      ),
    ).toBe(false);
    expect(await openedPath(join(root, 'x'))).toBeUndefined();
    expect(targetPaths('x', root, environment)).toEqual([join(root, 'x')]);
  });

  test('treats a hard link to an outside file as inside', () => {
    createTree([]);
    linkSync(join(top, 'outside/c'), join(root, 'hard'));
    expect(targetPaths('hard', root, environment)).toEqual([join(root, 'hard')]);
  });
});
