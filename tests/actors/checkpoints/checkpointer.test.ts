import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkpointer } from '../../../src/actors/checkpoints/checkpointer.js';
import type { WorkspaceBounds } from '../../../src/actors/checkpoints/workspace-scanner.js';
import type { Blobs, FileChange } from '../../../src/protocol/session/checkpoints.js';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import {
  blobDigest,
  checkpointBlobs,
} from '../../../src/store/files/checkpoints/checkpoint-blobs.js';
import { environment, temporaryFolder } from '../../host/git/repository.js';
import { needs } from '../../setup/needs.js';

interface TestWorkspace {
  readonly root: string;
  readonly blobs: Blobs;
  readonly records: JournalBody[];
  readonly notices: string[];
  put(name: string, text: string): string;
  run(command: string): void;
  /** Changes of the command: names below the root, with the kinds before and after. */
  changesOf(command: string): Promise<readonly string[]>;
  detailsOf(command: string): Promise<readonly FileChange[]>;
  newCheckpointer(): ReturnType<typeof checkpointer>;
}

const testWorkspace = (
  kind: 'git' | 'plain',
  bounds: Partial<WorkspaceBounds> = {},
): TestWorkspace => {
  const folder = temporaryFolder();
  const root = join(folder, 'work');
  fs.mkdirSync(root);
  const checkpointFolder = join(folder, 'checkpoints');
  const blobs = checkpointBlobs(checkpointFolder);
  const records: JournalBody[] = [];
  const notices: string[] = [];
  const run = (command: string) => {
    execFileSync('bash', ['-c', command], { cwd: root, stdio: 'pipe' });
  };
  if (kind === 'git') run('git init -q -b main .');
  const newCheckpointer = () =>
    checkpointer({
      roots: [root],
      excluded: [join(root, '.skein')],
      blobs,
      checkpointFolder,
      bounds,
      environment: environment(),
      notify: (sentence) => notices.push(sentence),
      record: (body) => records.push(body),
    });
  const tracked = newCheckpointer();
  const detailsOf = async (command: string) => {
    const watch = await tracked.watch({ call: 'c1', paths: undefined });
    run(command);
    return watch.changes();
  };
  return {
    root,
    blobs,
    records,
    notices,
    run,
    newCheckpointer,
    detailsOf,
    put(name, text) {
      const path = join(root, name);
      fs.mkdirSync(join(path, '..'), { recursive: true });
      fs.writeFileSync(path, text);
      return path;
    },
    changesOf: async (command) =>
      (await detailsOf(command)).map(
        ({ path, before, after }) =>
          `${path.slice(root.length + 1)}: ${before.kind} → ${after.kind}`,
      ),
  };
};

const KINDS = ['git', 'plain'] as const;

for (const kind of KINDS) {
  needs.describe('git')(
    `checkpoints around a command, ${kind === 'git' ? 'in a repository' : 'without git'}`,
    () => {
      test('find created, changed, moved, removed and linked files', async () => {
        const { put, run, changesOf, root } = testWorkspace(kind);
        put('kept', 'same');
        put('src/a', 'one');
        put('src/b', 'two');
        put('old', 'gone soon');
        if (kind === 'git')
          run('git add -A && git -c user.name=a -c user.email=b@c commit -qm first');
        put('dirty', 'not in git');
        expect(
          await changesOf(
            'echo more >> src/a; mv src/b moved; rm old; mkdir -p new/deep empty; echo x > new/deep/f; ln -s nowhere link; chmod 755 dirty',
          ),
        ).toEqual([
          'dirty: file → file',
          'empty: absent → directory',
          'link: absent → link',
          'moved: absent → file',
          'new: absent → directory',
          'new/deep: absent → directory',
          'new/deep/f: absent → file',
          'old: file → absent',
          'src/a: file → file',
          'src/b: file → absent',
        ]);
        expect(fs.readFileSync(join(root, 'kept'), 'utf8')).toBe('same');
      });

      test('store the previous contents in blobs, including contents that only git had', async () => {
        const { put, run, detailsOf, blobs } = testWorkspace(kind);
        put('a', 'as it was');
        if (kind === 'git')
          run('git add -A && git -c user.name=a -c user.email=b@c commit -qm first');
        const [change] = await detailsOf('echo other > a');
        const digest = blobDigest(Buffer.from('as it was'));
        expect(change?.before).toEqual({ kind: 'file', digest, mode: 0o644 });
        expect(Buffer.from(blobs.read(digest) as Uint8Array).toString()).toBe('as it was');
      });

      test('detect a change that keeps size and time', async () => {
        const { put, changesOf } = testWorkspace(kind);
        put('a', 'abc');
        expect(await changesOf('touch -r a t; printf xyz > a; touch -r t a; rm t')).toEqual([
          'a: file → file',
        ]);
      });

      test('skip ignored files, including files that are no longer ignored after the command', async () => {
        const { put, changesOf } = testWorkspace(kind);
        put('.gitignore', 'secret\nbuild/\n');
        put('secret', 'mine');
        put('build/out', 'made');
        put('node_modules/m/index.js', 'theirs');
        expect(
          await changesOf('echo 2 > build/out; echo 2 > secret; rm .gitignore; echo n > new'),
        ).toEqual(['.gitignore: file → absent', 'new: absent → file']);
      });

      test('do not report a file as removed if it becomes ignored', async () => {
        const { put, changesOf } = testWorkspace(kind);
        put('notes', 'mine');
        expect(await changesOf('echo notes > .gitignore')).toEqual(['.gitignore: absent → file']);
      });

      test('find the changes of a command after a crash', async () => {
        const { put, run, newCheckpointer, records } = testWorkspace(kind);
        put('a', 'one');
        put('b', 'two');
        await newCheckpointer().watch({ call: 'c9', paths: undefined });
        run('rm a; echo 3 > c');
        const journal = records.map((body, at) => ({
          v: 1,
          seq: at + 1,
          ts: 0,
          epoch: 1,
          ...body,
        }));
        await newCheckpointer().settle(journal as JournalRecord[]);
        const found = records.find(({ type }) => type === 'files.changed');
        expect(found).toMatchObject({
          call: 'c9',
          changes: [{ after: { kind: 'absent' } }, { before: { kind: 'absent' } }],
        });
      });
    },
  );
}

describe('checkpoints of a workspace over the limits', () => {
  test('report a too large file once and record it as unknown', async () => {
    const { put, notices, detailsOf, records } = testWorkspace('plain', { maxFileBytes: 10 });
    put('big', 'x'.repeat(11));
    const [change] = await detailsOf('rm big');
    expect(change?.before).toEqual({ kind: 'unknown', why: 'it is larger than 10 bytes' });
    expect(notices).toHaveLength(1);
    put('big', 'x'.repeat(12));
    await detailsOf('true');
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain('big');
    expect(records.filter(({ type }) => type === 'bound.hit')).toHaveLength(1);
  });

  test('do not report an entry over the limit as new', async () => {
    const { put, notices, changesOf } = testWorkspace('plain', { maxEntries: 3 });
    for (const name of ['a', 'b', 'c', 'd']) put(name, name);
    expect(await changesOf('rm a')).not.toContain('d: absent → file');
    expect(notices[0]).toContain('more than 3');
  });

  test('copy files up to the byte limit, and the rest before the next command', async () => {
    const { put, notices, detailsOf } = testWorkspace('plain', { maxBytes: 5 });
    put('a', '1234');
    put('b', '5678');
    fs.utimesSync(join(put('c', ''), '..'), 0, 0);
    await new Promise((resolve) => setTimeout(resolve, 80));
    await detailsOf('true');
    expect(notices[0]).toContain('too much to copy');
    const changes = await detailsOf('rm a b');
    expect(changes.map(({ before }) => before.kind)).toEqual(['file', 'file']);
  });
});

describe('checkpoints of a file that a tool writes', () => {
  test('resolve links and include the new parent folders', async () => {
    const { put, root, newCheckpointer, records } = testWorkspace('plain');
    put('real/a', 'one');
    fs.symlinkSync('real', join(root, 'way'));
    const watch = await newCheckpointer().watch({
      call: 'c',
      paths: [join(root, 'way/sub/deep/f')],
    });
    put('real/sub/deep/f', 'new');
    expect((await watch.changes()).map(({ path }) => path)).toEqual(
      ['real/sub', 'real/sub/deep', 'real/sub/deep/f'].map((name) => join(root, name)),
    );
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ type: 'files.watched', call: 'c' });
  });

  test('are journaled before the change, with the contents', async () => {
    const { put, root, newCheckpointer, records, blobs } = testWorkspace('plain');
    const path = put('a', 'one');
    await newCheckpointer().watch({ call: 'c', paths: [path] });
    const digest = blobDigest(Buffer.from('one'));
    expect(records).toEqual([
      {
        type: 'files.watched',
        call: 'c',
        files: [{ path: join(root, 'a'), before: { kind: 'file', digest, mode: 0o644 } }],
      },
    ]);
    expect(blobs.has(digest)).toBe(true);
  });
});
