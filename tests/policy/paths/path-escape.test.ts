/** Checks on a real tree with random links that no path inside of a root opens a file outside of it. */
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

const world = { home: join(top, 'home'), realPath, ignoreCase: false };

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

const asked = fc.oneof(
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

const plant = (wanted: readonly (readonly [readonly string[], string])[]) => {
  for (const folder of ['repo', 'repo2', 'outside', 'home']) {
    rmSync(join(top, folder), { recursive: true, force: true });
    mkdirSync(join(top, folder, 'a/b'), { recursive: true });
    mkdirSync(join(top, folder, 'b'));
    writeFileSync(join(top, folder, 'c'), folder);
    writeFileSync(join(top, folder, 'a/c'), folder);
  }
  for (const [[folder = '', leaf = ''], target] of wanted) {
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

/** Returns the file that the system opens for this path as written. Returns undefined if it opens none. */
const opened = async (path: string): Promise<string | undefined> => {
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
const made = async (path: string) => {
  const there = await opened(path);
  if (there !== undefined) return there;
  const folder = await opened(dirname(path));
  return folder === undefined ? undefined : join(folder, path.slice(dirname(path).length + 1));
};

describe('the path policy', () => {
  const root = join(top, 'repo');

  /** Expects that a path that the policy calls inside is inside when the kernel opens it. */
  const holds = (
    placesOf: (path: string) => readonly string[],
    open: (path: string) => Promise<string | undefined>,
  ) =>
    fc.assert(
      fc.asyncProperty(
        links,
        fc.array(asked, { minLength: 5, maxLength: 20 }),
        async (wanted, paths) => {
          plant(wanted);
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

  test('lets no path of a file tool out of the workspace', async () => {
    await holds(
      (path) => targetPaths(path, root, world),
      // File tools open the normalised path.
      (path) => opened(resolve(root, path.replace(/^~(?=\/|$)/, world.home))),
    );
  }, 60_000);

  test('lets no word of a command out of the workspace', async () => {
    await holds(
      (path) => wordPaths(path, root, world),
      // A shell opens the path as written, relative to its directory.
      (path) => made(path.startsWith('/') ? path : `${root}/${path}`),
    );
  }, 60_000);

  test('follows a dangling link from where it really lies', () => {
    plant([]);
    symlinkSync(join(top, 'outside/a'), join(root, 'way'));
    symlinkSync('../new', join(top, 'outside/a/dangling'));
    expect(targetPaths('way/dangling', root, world).at(-1)).toBe(join(top, 'outside/new'));
  });

  test('takes two dots after a link in a command, and before it in a file tool', () => {
    plant([]);
    symlinkSync(join(top, 'outside/a'), join(root, 'way'));
    expect(wordPaths('way/../c', root, world)).toContain(join(top, 'outside/c'));
    expect(targetPaths('way/../c', root, world)).toEqual([join(root, 'c')]);
  });

  test.each(['~root/x', '~nobody', 'C:\\Users\\ada', 'c:/x', '\\\\server\\share', 'c::$DATA'])(
    'never calls a spelling inside that only another system or shell understands: %s',
    (word) => {
      plant([]);
      expect(
        wordPaths(word, root, world).every((place) => isPathInside({ path: place, folder: root })),
      ).toBe(false);
    },
  );

  test('holds for a workspace that is itself a link, by both of its names', () => {
    plant([]);
    symlinkSync(root, join(top, 'home/entry'));
    const entry = join(top, 'home/entry');
    const inside = (path: string) =>
      targetPaths(path, entry, world).every(
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

  test('does not survive a loop of links as a way out, nor crash on one', async () => {
    plant([]);
    symlinkSync('y', join(root, 'x'));
    symlinkSync('x', join(root, 'y'));
    expect(
      targetPaths('x/../../outside/c', root, world).every((it) =>
        isPathInside({ path: it, folder: root }),
      ),
    ).toBe(false);
    expect(await opened(join(root, 'x'))).toBeUndefined();
    expect(targetPaths('x', root, world)).toEqual([join(root, 'x')]);
  });

  test('keeps a second name of an outside file apart only by its name: hard links have no place', () => {
    plant([]);
    linkSync(join(top, 'outside/c'), join(root, 'hard'));
    expect(targetPaths('hard', root, world)).toEqual([join(root, 'hard')]);
  });
});
