import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  blobDigest,
  checkpointBlobs,
} from '../../../../src/store/files/checkpoints/checkpoint-blobs.js';
import { sweepBlobs } from '../../../../src/store/files/checkpoints/sweep-blobs.js';
import { mapWithLimit } from '../../../fakes/map-with-limit.js';
import { bundled } from '../../child-program.js';
import type { PackChange } from '../../fixtures/change-packs.js';
import { makeOld, newRoot, packPaths, packUp } from './packs.js';

interface Ended {
  readonly changes: readonly string[];
  readonly signal: NodeJS.Signals | null;
}

const runProgram = (program: string, change: PackChange): Promise<Ended> =>
  new Promise((resolve) => {
    const args = [program, JSON.stringify(change)];
    const child = execFile(process.execPath, args, (_, stdout) => {
      resolve({ changes: stdout === '' ? [] : JSON.parse(stdout), signal: child.signalCode });
    });
  });

/**
 * Runs the change to its end in a copy of `root`, then in another copy for each point in time at which
 * the process can die. Returns the copies and the names of the changes.
 */
const killedEverywhere = async (root: string, change: Omit<PackChange, 'root'>) => {
  const program = await bundled('change-packs');
  const copy = () => {
    const folder = newRoot();
    fs.cpSync(root, folder, { recursive: true, preserveTimestamps: true });
    return folder;
  };
  const whole = copy();
  const { changes } = await runProgram(program, { root: whole, ...change });
  const points = changes.flatMap((name, index) => {
    const at = index + 1;
    const when = name === 'writeSync' ? (['before', 'torn'] as const) : (['before'] as const);
    return when.map((time) => ({ at, when: time }));
  });
  const killed = await mapWithLimit(
    [...points, { at: changes.length, when: 'after' as const }],
    4,
    async (point) => {
      const folder = copy();
      const { signal } = await runProgram(program, { root: folder, ...change, ...point });
      expect([point, signal]).toEqual([point, 'SIGKILL']);
      return folder;
    },
  );
  return { whole, killed, changes };
};

const bytes = (text: string) => Buffer.from(text);

/** Contents in files of their own and in two packs, all of them old. */
const LOOSE = ['loose', 'unused'].map(bytes);
const PACKED = ['a', 'b', 'c', 'an unused text', 'd', 'e', 'another unused text'].map(bytes);
const setUp = () => {
  const root = newRoot();
  for (const each of LOOSE) checkpointBlobs(root).put(each);
  packUp(root, PACKED.slice(0, 4));
  packUp(root, PACKED.slice(4));
  makeOld(root);
  return root;
};

const CITED = new Set(['loose', 'a', 'b', 'd'].map((text) => blobDigest(bytes(text))));
const isCited = (digest: string) => CITED.has(digest);

/** Sweeps when all files are old. Only the cited contents are left. */
const expectCleanSweep = (root: string) => {
  makeOld(root);
  const before = Date.now() - 60_000;
  sweepBlobs(root, isCited, before);
  makeOld(root);
  expect(sweepBlobs(root, isCited, before)).toEqual({ removed: 0, freedBytes: 0 });
  expect(packPaths(root).filter((path) => !path.endsWith('.pack'))).toEqual([]);
  const blobs = checkpointBlobs(root);
  for (const each of [...LOOSE, ...PACKED]) {
    const digest = blobDigest(each);
    if (isCited(digest)) expect(blobs.read(digest)).toEqual(each);
    else expect(blobs.has(digest)).toBe(false);
  }
};

describe('a killed process', () => {
  test('leaves all or none of the blobs that it packed, and all earlier blobs', async () => {
    const contents = [3, 0, 700_000, 600_000, 1_500_000, 20].map((length) =>
      Buffer.alloc(length, 'packed '),
    );
    const lengths = contents.map(({ length }) => length);
    const { whole, killed, changes } = await killedEverywhere(setUp(), { lengths });
    expect(changes).toEqual([
      'mkdirSync',
      'openSync',
      'writeSync',
      'writeSync',
      'writeSync',
      'writeSync',
      'writeSync',
      'fsyncSync',
      'closeSync',
      'renameSync',
      'openSync',
      'fsyncSync',
      'closeSync',
    ]);
    const found = [whole, ...killed].map((root) => {
      const blobs = checkpointBlobs(root);
      for (const each of [...LOOSE, ...PACKED]) {
        expect(blobs.read(blobDigest(each))).toEqual(each);
      }
      const intact = contents.filter((each) => {
        const read = blobs.read(blobDigest(each));
        return !('reason' in read) && each.equals(read);
      });
      expectCleanSweep(root);
      return intact.length;
    });
    expect(new Set(found)).toEqual(new Set([0, contents.length]));
    expect(found[0]).toBe(contents.length);
  });

  test('loses no cited blob in a sweep', async () => {
    const { whole, killed, changes } = await killedEverywhere(setUp(), { cited: [...CITED] });
    expect(changes.filter((name) => name === 'renameSync')).toHaveLength(2);
    expect(changes.filter((name) => name === 'rmSync')).toHaveLength(3);
    for (const root of [whole, ...killed]) {
      const blobs = checkpointBlobs(root);
      for (const each of [...LOOSE, ...PACKED].filter((bytes) => isCited(blobDigest(bytes)))) {
        expect(blobs.read(blobDigest(each))).toEqual(each);
      }
      expectCleanSweep(root);
    }
  });
});

describe('a blob', () => {
  test('is found at any time while another process moves it from pack to pack', async () => {
    const root = newRoot();
    const blob = bytes('');
    packUp(root, [blob]);
    let hasEnded = false;
    const moving = runProgram(await bundled('change-packs'), { root, moves: 150 }).finally(() => {
      hasEnded = true;
    });
    const open = checkpointBlobs(root);
    const digest = blobDigest(blob);
    while (!hasEnded) {
      for (const reader of [open, checkpointBlobs(root)]) {
        expect([reader.read(digest), reader.has(digest)]).toEqual([blob, true]);
      }
      await new Promise(setImmediate);
    }
    expect(await moving).toEqual({ changes: expect.any(Array), signal: null });
  });
});
