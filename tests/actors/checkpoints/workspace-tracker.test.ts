import fs from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import ignore from 'ignore';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSameState } from '../../../src/actors/checkpoints/is-same-state.js';
import { WorkspaceTracker } from '../../../src/actors/checkpoints/workspace-tracker.js';
import type { FileChange, FileState } from '../../../src/protocol/session/checkpoints.js';
import {
  blobDigest,
  checkpointBlobs,
} from '../../../src/store/files/checkpoints/checkpoint-blobs.js';
import { shardThreadProgram } from '../../fakes/shard-thread-program.js';
import { environment, temporaryFolder } from '../../host/git/repository.js';

/** Files that are older are not read again unless their stamp changes. */
const FRESH_MS = 60;

let program: Awaited<ReturnType<typeof shardThreadProgram>>;
beforeAll(async () => {
  program = await shardThreadProgram();
});
afterAll(() => program.remove());

const FILES = ['a', 'b', 'd/c', 'd/e/f', 'd/x.log', 'x.log', 'build/out', 'sp ace'];
const FOLDERS = ['d', 'd/e', 'build', 'new/deep'];
const file = fc.constantFrom(...FILES);
const folder = fc.constantFrom(...FOLDERS);
const anyPath = fc.oneof(file, folder);

/** A change of the workspace as data, so that a counterexample is readable. */
type Change = readonly [kind: keyof typeof CHANGES, path: string, value: string];

const CHANGES = {
  write(path: string, text: string) {
    fs.mkdirSync(join(path, '..'), { recursive: true });
    fs.writeFileSync(path, text);
  },
  remove: (path: string) => fs.rmSync(path, { recursive: true, force: true }),
  makeFolder: (path: string) => fs.mkdirSync(path, { recursive: true }),
  moveTo: (path: string, _: string, to: string) => fs.renameSync(path, to),
  chmod(path: string, mode: string) {
    const open = fs.statSync(path).isDirectory() ? 0o700 : 0;
    fs.chmodSync(path, Number(mode) | open);
  },
  linkTo: (path: string, _: string, target: string) => fs.symlinkSync(target, path),
  /** A folder makes room for a link to another folder with the same names. */
  replaceByLinkTo(path: string, _: string, target: string) {
    fs.renameSync(path, `${path}-moved`);
    fs.symlinkSync(target, path);
  },
  /** Keeps size and modification time. */
  overwrite(path: string) {
    const { atime, mtime, size } = fs.statSync(path);
    fs.writeFileSync(path, 'y'.repeat(size));
    fs.utimesSync(path, atime, mtime);
  },
  ignore(path: string, lines: string) {
    if (lines === '') fs.rmSync(path, { force: true });
    else fs.writeFileSync(path, lines);
  },
};

const perform = (root: string, [kind, path, value]: Change): void => {
  try {
    CHANGES[kind](join(root, path), value, join(root, value));
  } catch {
    // A command that fails changes nothing.
  }
};

const change = fc.oneof(
  fc.tuple(fc.constant('write'), file, fc.constantFrom('', 'one', 'two', 'x'.repeat(300_000))),
  fc.tuple(fc.constantFrom('remove', 'overwrite'), anyPath, fc.constant('')),
  fc.tuple(fc.constant('makeFolder'), folder, fc.constant('')),
  fc.tuple(fc.constantFrom('moveTo', 'linkTo'), anyPath, anyPath),
  fc.tuple(fc.constant('replaceByLinkTo'), folder, folder),
  fc.tuple(fc.constant('chmod'), anyPath, fc.constantFrom('384', '448', '493')),
) as fc.Arbitrary<Change>;

const rules = fc.tuple(
  fc.constant('ignore' as const),
  fc.constant('.gitignore'),
  fc.constantFrom('', '*.log\n', 'build/\n', 'd/\n!d/c\n', '*.log\n!x.log\n'),
);

const states = (root: string): ReadonlyMap<string, FileState> => {
  const found = new Map<string, FileState>();
  const visit = (path: string) => {
    for (const name of fs.readdirSync(path)) {
      const at = join(path, name);
      const stats = fs.lstatSync(at);
      const mode = stats.mode & 0o7777;
      if (stats.isDirectory()) {
        found.set(at, { kind: 'directory', mode });
        visit(at);
      } else if (stats.isSymbolicLink()) {
        found.set(at, { kind: 'link', mode, digest: blobDigest(Buffer.from(fs.readlinkSync(at))) });
      } else found.set(at, { kind: 'file', mode, digest: blobDigest(fs.readFileSync(at)) });
    }
  };
  visit(root);
  return found;
};

const ABSENT: FileState = { kind: 'absent' };

const differences = (
  before: ReadonlyMap<string, FileState>,
  after: ReadonlyMap<string, FileState>,
): readonly FileChange[] =>
  [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path) => {
    const [old, now] = [before.get(path) ?? ABSENT, after.get(path) ?? ABSENT];
    return isSameState(old, now) ? [] : [{ path, before: old, after: now }];
  });

const openTracker = (hasThreads: boolean) => {
  const top = temporaryFolder();
  const root = join(top, 'work');
  fs.mkdirSync(root);
  const checkpointFolder = join(top, 'checkpoints');
  const blobs = checkpointBlobs(checkpointFolder);
  let time = 0;
  const open = () =>
    new WorkspaceTracker({
      roots: [root],
      excluded: [],
      checkpointFolder,
      blobs,
      environment: environment(),
      shardThread: hasThreads ? program.path : undefined,
      bounds: { minThreadEntries: 1 },
      now: () => (time += 1),
      scanDelayMs: 0,
    });
  /** Time passes, so that no earlier scan counts as the present. */
  const wait = async () => {
    time += 1_000;
    await sleep(FRESH_MS);
  };
  return { root, open, blobs, wait };
};

const fill = (root: string) => {
  for (const path of FILES) {
    fs.mkdirSync(join(root, path, '..'), { recursive: true });
    fs.writeFileSync(join(root, path), `content of ${path}`);
  }
};

const RUNS = Number(process.env.SKEIN_TEST_TRACKERS ?? 12);

describe.each([
  ['in the thread of the session', false],
  ['in threads of its own', true],
])('a workspace tracker %s', (_, hasThreads) => {
  test('finds exactly the changes of each command, also in another process after a crash', async () => {
    const step = fc.record({
      outside: fc.array(change, { maxLength: 2 }),
      command: fc.array(change, { maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        const { root, open, blobs, wait } = openTracker(hasThreads);
        fill(root);
        const tracker = open();
        const other = open();
        try {
          for (const { outside, command } of steps) {
            for (const act of outside) perform(root, act);
            await wait();
            const snapshot = await tracker.takeSnapshot();
            const before = states(root);
            for (const act of command) perform(root, act);
            const found = await tracker.changes(snapshot);
            const expected = differences(before, states(root));
            expect(found).toEqual(expected);
            expect(await other.changesSince(snapshot.scan.manifest)).toEqual(expected);
            const kept = found.flatMap(({ before: old }) => ('digest' in old ? [old.digest] : []));
            for (const digest of kept) expect(blobs.read(digest)).toBeInstanceOf(Uint8Array);
          }
        } finally {
          tracker.close();
        }
      }),
      { numRuns: RUNS },
    );
  }, 120_000);

  test('starts no scan once it is closed', async () => {
    const { root, open } = openTracker(hasThreads);
    fill(root);
    const tracker = open();
    const snapshot = await tracker.takeSnapshot();
    tracker.close();
    await expect(tracker.changes(snapshot)).rejects.toThrow('the session is closed');
    await expect(tracker.takeSnapshot()).rejects.toThrow('the session is closed');
  });

  test('never takes a file for new that was only ignored, and finds each change of a visible file', async () => {
    const step = fc.array(fc.oneof(change, rules), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 4 }), async (steps) => {
        const { root, open, wait } = openTracker(hasThreads);
        fill(root);
        fs.writeFileSync(join(root, '.gitignore'), '*.log\nbuild/\n');
        const tracker = open();
        try {
          for (const command of steps) {
            await wait();
            const snapshot = await tracker.takeSnapshot();
            const before = states(root);
            const isIgnored = ignoredIn(root);
            for (const act of command) perform(root, act);
            const found = await tracker.changes(snapshot);
            const expected = differences(before, states(root));
            for (const entry of found) expect(expected).toContainEqual(entry);
            const isVisible = ({ path }: FileChange) => !isIgnored(path) && !ignoredIn(root)(path);
            for (const entry of expected.filter(isVisible)) expect(found).toContainEqual(entry);
          }
        } finally {
          tracker.close();
        }
      }),
      { numRuns: RUNS },
    );
  }, 120_000);
});

/** Returns a function that tells if the rules of the folder hide a path. */
const ignoredIn = (root: string) => {
  const path = join(root, '.gitignore');
  const matcher = ignore().add(fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : '');
  return (at: string) => {
    const name = relative(root, at);
    return matcher.ignores(name) || matcher.ignores(`${name}/`);
  };
};

describe('a command beside calls that name their files', () => {
  const begin = async () => {
    const { root, open, wait } = openTracker(false);
    const path = join(root, 'a');
    fs.writeFileSync(path, 'one');
    const tracker = open();
    await wait();
    return { root, path, tracker, snapshot: await tracker.takeSnapshot() };
  };

  test('does not get the change of a call that starts between its end and its scan', async () => {
    const { path, tracker, snapshot, root } = await begin();
    fs.writeFileSync(join(root, 'b'), 'by the command');
    const changes = tracker.changes(snapshot);
    const call = tracker.beginFileCall([path]);
    fs.writeFileSync(path, 'by the call');
    expect(tracker.endFileCall(call)).toMatchObject([{ path }]);
    expect((await changes).map((it) => relative(root, it.path))).toEqual(['b']);
  });

  test('keeps its own change of a file that a later call changes again', async () => {
    const { path, tracker, snapshot } = await begin();
    fs.writeFileSync(path, 'by the command');
    const changes = tracker.changes(snapshot);
    const call = tracker.beginFileCall([path]);
    fs.writeFileSync(path, 'by the call');
    const [later] = tracker.endFileCall(call);
    expect(await changes).toMatchObject([{ path, after: later?.before }]);
  });

  test('does not get the change of a call that runs at the same time', async () => {
    const { path, tracker, snapshot } = await begin();
    const call = tracker.beginFileCall([path]);
    fs.writeFileSync(path, 'by the call');
    tracker.endFileCall(call);
    expect(await tracker.changes(snapshot)).toEqual([]);
  });

  test('gets a change that no call names', async () => {
    const { path, tracker, snapshot } = await begin();
    const changes = tracker.changes(snapshot);
    fs.writeFileSync(path, 'by another program');
    expect(await changes).toMatchObject([{ path }]);
  });
});
