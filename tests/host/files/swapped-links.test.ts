/**
 * A link may change between the ruling on a path and its use. The used file must be the file that
 * was judged.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { diskWorkspace } from '../../../src/host/files/disk-workspace.js';
import { isPathInside } from '../../../src/lib/paths/is-path-inside.js';
import { FileError } from '../../../src/protocol/tools/workspace.js';

const setUp = () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'skein-swap-')));
  const at = (path: string) => join(top, path);
  for (const folder of ['repo/inside', 'outside']) mkdirSync(at(folder), { recursive: true });
  writeFileSync(at('repo/inside/file'), 'free');
  writeFileSync(at('outside/file'), 'SECRET');
  symlinkSync(at('repo/inside'), at('repo/way'));
  symlinkSync(at('repo/inside/file'), at('repo/name'));
  const workspace = diskWorkspace().judgedBy?.((path) =>
    isPathInside({ path, folder: at('repo') }),
  );
  if (workspace === undefined) throw new Error('the disk has no judge');
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  return { at, workspace };
};

/** Another process swaps the links until `work` resolves. */
const whileSwapping = async (at: (path: string) => string, work: () => Promise<void>) => {
  const links = [
    at('repo/way'),
    at('repo/inside'),
    at('outside'),
    at('repo/name'),
    at('repo/inside/file'),
    at('outside/file'),
  ];
  const swapper = spawn(
    process.execPath,
    [join(import.meta.dirname, '../fixtures/swap-links.mjs'), ...links],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const ended = once(swapper, 'exit');
  await once(swapper.stdout, 'data');
  try {
    await work();
  } finally {
    swapper.stdin.end();
    await ended;
  }
};

/** Counts successes, and refusals because a path moved after it was judged. */
const tally = () => {
  const counts = { done: 0, moved: 0 };
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
      counts.done += 1;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      if (error.why === 'moved') counts.moved += 1;
    }
  };
  return { counts, attempt };
};

test('reads never return a file outside the workspace while a link is swapped', async () => {
  const { at, workspace } = setUp();
  const { counts, attempt } = tally();
  const seen = new Set<string>();
  await whileSwapping(at, async () => {
    for (let round = 0; round < 2_000; round += 1) {
      await attempt(async () => {
        const path = at(round % 2 === 0 ? 'repo/way/file' : 'repo/name');
        const { bytes } = await workspace.read(path, 1_000);
        seen.add(Buffer.from(bytes).toString());
      });
    }
  });
  expect([...seen]).toEqual(['free']);
  // Otherwise the links were not swapped during the reads.
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.moved).toBeGreaterThan(0);
}, 60_000);

test('writes never reach a folder outside the workspace while a link is swapped', async () => {
  const { at, workspace } = setUp();
  const { counts, attempt } = tally();
  await whileSwapping(at, async () => {
    for (let round = 0; round < 800; round += 1) {
      const path = ['repo/way/file', 'repo/name', 'repo/way/new', 'repo/way/deep/er/new'][
        round % 4
      ];
      await attempt(() => workspace.write(at(path ?? ''), Buffer.from('written')));
    }
  });
  expect(readdirSync(at('outside'))).toEqual(['file']);
  expect(readFileSync(at('outside/file'), 'utf8')).toBe('SECRET');
  expect(readdirSync(at('repo/inside')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  expect(counts.done).toBeGreaterThan(0);
  expect(counts.moved).toBeGreaterThan(0);
}, 60_000);

test('a link that leads out of the workspace is refused', async () => {
  const { at, workspace } = setUp();
  symlinkSync(at('outside'), at('repo/out'));
  const refusal = { why: 'moved' };
  await expect(workspace.read(at('repo/out/file'), 100)).rejects.toMatchObject(refusal);
  await expect(workspace.write(at('repo/out/new'), Buffer.from('x'))).rejects.toMatchObject(
    refusal,
  );
  await expect(workspace.write(at('repo/out/a/b'), Buffer.from('x'))).rejects.toMatchObject(
    refusal,
  );
  expect(readdirSync(at('outside'))).toEqual(['file']);
});

test('a dangling link below a linked folder is resolved relative to its own folder', async () => {
  const { at } = setUp();
  mkdirSync(at('outside/sub'));
  symlinkSync('../made', at('outside/sub/dangling'));
  symlinkSync(at('outside/sub'), at('repo/far'));
  await diskWorkspace().write(at('repo/far/dangling'), Buffer.from('x'));
  expect(readFileSync(at('outside/made'), 'utf8')).toBe('x');
});
