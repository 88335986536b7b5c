import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { artifactWorkspace } from '../../../src/host/files/artifact-workspace.js';
import { diskWorkspace } from '../../../src/host/files/disk-workspace.js';
import { openArtifactFile } from '../../../src/host/files/open-artifact-file.js';
import {
  type SharedArtifactDeps,
  sharedArtifact,
} from '../../../src/host/files/shared-artifact.js';
import { limitConcurrency } from '../../../src/lib/async/limit-concurrency.js';
import { StorageError, UsageError } from '../../../src/protocol/skein-error.js';

const folder = () => mkdtemp(join(tmpdir(), 'skein-artifacts-'));
const never = new Promise<void>(() => {});

const sharing = async (more: Partial<SharedArtifactDeps> = {}) => {
  const put: [string, string][] = [];
  const notices: string[] = [];
  const turn = limitConcurrency(1);
  const directory = await folder();
  const open = (name: string) =>
    sharedArtifact(openArtifactFile(directory, name), turn, {
      put: async (it, bytes) => void put.push([it, Buffer.from(bytes).toString()]),
      notify: (sentence) => void notices.push(sentence),
      untilAway: () => ({ away: never, end: () => {} }),
      ...more,
    });
  return { put, notices, open };
};

describe('a large output in the shared store', () => {
  test('is stored when it is closed, under its file name on disk', async () => {
    const { put, open } = await sharing();
    const [first, second] = [open('out.txt'), open('out.txt')];
    first.write(Buffer.from('geese'));
    second.write(Buffer.from('ducks'));
    expect(put).toEqual([]);
    await Promise.all([first.close(), second.close()]);
    expect(put).toEqual([
      ['out.txt', 'geese'],
      [basename(second.path), 'ducks'],
    ]);
  });

  test('rejects with a message that the output is only on this machine if the store refuses it', async () => {
    const refuse = () => Promise.reject(new StorageError('Redis is full.'));
    const { open } = await sharing({ put: refuse });
    const artifact = open('out.txt');
    await expect(artifact.close()).rejects.toThrow(
      `it is in ${artifact.path} on this machine only: Redis is full.`,
    );
  });

  test('does not block during a store outage, and reports a later refusal', async () => {
    const away = { away: Promise.resolve(), end: () => {} };
    let refuse: ((why: Error) => void) | undefined;
    const put = () =>
      new Promise<void>((_, reject) => {
        refuse = reject;
      });
    const { open, notices } = await sharing({ put, untilAway: () => away });
    await open('out.txt').close();
    await expect.poll(() => refuse).toBeDefined();
    refuse?.(new StorageError('It is gone.'));
    await expect.poll(() => notices).toEqual([expect.stringContaining('It is gone.')]);
  });
});

describe('reading an output of another machine', () => {
  const workspaceOf = async (kept: Readonly<Record<string, string>>) => {
    const here = await folder();
    const asked: string[] = [];
    const workspace = artifactWorkspace(diskWorkspace(), {
      localPathOf: (path) =>
        path.includes('/artifacts/') ? join(here, 'artifacts', basename(path)) : undefined,
      async fetch(path) {
        asked.push(basename(path));
        const text = kept[basename(path)];
        if (text === undefined) throw new UsageError('There is no such artifact.');
        return Buffer.from(text);
      },
    });
    return { here, asked, workspace };
  };

  test('fetches it once and keeps a local copy', async () => {
    const { here, asked, workspace } = await workspaceOf({ 'out.txt': 'geese' });
    const path = workspace.resolve('/elsewhere/artifacts/out.txt');
    expect(path).toBe(join(here, 'artifacts/out.txt'));
    for (const judged of [workspace, workspace.judgedBy?.(() => true) ?? workspace]) {
      expect(Buffer.from((await judged.read(path, 100)).bytes).toString()).toBe('geese');
    }
    expect(asked).toEqual(['out.txt']);
    expect(await readFile(path, 'utf8')).toBe('geese');
  });

  test('reports a missing artifact, and fetches no other paths', async () => {
    const { here, asked, workspace } = await workspaceOf({});
    const read = (path: string) => workspace.read(workspace.resolve(path), 100);
    await expect(read('/elsewhere/artifacts/out.txt')).rejects.toMatchObject({ why: 'missing' });
    await writeFile(join(here, 'plain'), 'ducks');
    expect((await read(join(here, 'plain'))).stamp.size).toBe(5);
    await expect(read(join(here, 'gone'))).rejects.toMatchObject({ why: 'missing' });
    expect(asked).toEqual(['out.txt']);
  });
});
