/** No path that the policy calls inside leads the system to something outside: on a real tree, with random links. */
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
import { isInside, placesOfTarget, placesOfWord } from '../../../src/policy/paths/path-policy.js';

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
      // A folder may be a link by now; what lies behind it is not ours.
      if (realpathSync(join(top, folder)) !== join(top, folder)) continue;
      rmSync(place, { recursive: true, force: true });
      symlinkSync(target, place);
    } catch {
      // Not every target can be the target of a link, and not every place is still there.
    }
  }
};

/** What the system opens for these very letters; undefined when it opens nothing. */
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

/** Where a file would be made: the folder that is there, and the name that is not. */
const made = async (path: string) => {
  const there = await opened(path);
  if (there !== undefined) return there;
  const folder = await opened(dirname(path));
  return folder === undefined ? undefined : join(folder, path.slice(dirname(path).length + 1));
};

describe('the path policy', () => {
  const root = join(top, 'repo');

  /** What the policy calls inside is inside, as the kernel opens it. */
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
            if (!placesOf(path).every((place) => isInside(root, place))) continue;
            const place = await open(path);
            const inside = isInside(root, place ?? root);
            expect({ path, place, inside }).toHaveProperty('inside', true);
          }
        },
      ),
      { numRuns: 120 },
    );

  test('lets no path of a file tool out of the workspace', async () => {
    await holds(
      (path) => placesOfTarget(path, root, world),
      // File tools open the path with its dots taken out.
      (path) => opened(resolve(root, path.replace(/^~(?=\/|$)/, world.home))),
    );
  }, 60_000);

  test('lets no word of a command out of the workspace', async () => {
    await holds(
      (path) => placesOfWord(path, root, world),
      // A shell opens the letters as they are, relative to its directory.
      (path) => made(path.startsWith('/') ? path : `${root}/${path}`),
    );
  }, 60_000);

  test('follows a dangling link from where it really lies', () => {
    plant([]);
    symlinkSync(join(top, 'outside/a'), join(root, 'way'));
    symlinkSync('../new', join(top, 'outside/a/dangling'));
    expect(placesOfTarget('way/dangling', root, world).at(-1)).toBe(join(top, 'outside/new'));
  });

  test('takes two dots after a link in a command, and before it in a file tool', () => {
    plant([]);
    symlinkSync(join(top, 'outside/a'), join(root, 'way'));
    expect(placesOfWord('way/../c', root, world)).toContain(join(top, 'outside/c'));
    expect(placesOfTarget('way/../c', root, world)).toEqual([join(root, 'c')]);
  });

  test.each(['~root/x', '~nobody', 'C:\\Users\\ada', 'c:/x', '\\\\server\\share', 'c::$DATA'])(
    'never calls a spelling inside that only another system or shell understands: %s',
    (word) => {
      plant([]);
      expect(placesOfWord(word, root, world).every((place) => isInside(root, place))).toBe(false);
    },
  );

  test('holds for a workspace that is itself a link, by both of its names', () => {
    plant([]);
    symlinkSync(root, join(top, 'home/entry'));
    const entry = join(top, 'home/entry');
    const inside = (path: string) =>
      placesOfTarget(path, entry, world).every(
        (place) => isInside(entry, place) || isInside(root, place),
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
    expect(placesOfTarget('x/../../outside/c', root, world).every((it) => isInside(root, it))).toBe(
      false,
    );
    expect(await opened(join(root, 'x'))).toBeUndefined();
    expect(placesOfTarget('x', root, world)).toEqual([join(root, 'x')]);
  });

  test('keeps a second name of an outside file apart only by its name: hard links have no place', () => {
    plant([]);
    linkSync(join(top, 'outside/c'), join(root, 'hard'));
    expect(placesOfTarget('hard', root, world)).toEqual([join(root, 'hard')]);
  });
});
