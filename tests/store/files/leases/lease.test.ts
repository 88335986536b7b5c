import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Leases } from '../../../../src/protocol/session/leases.js';
import {
  LeaseFiles,
  type LeaseOwner,
  takeLease,
} from '../../../../src/store/files/leases/lease-file.js';
import { LeaseMemory } from '../../../../src/store/memory/lease-memory.js';
import { needs } from '../../../setup/needs.js';
import { bundled } from '../../child-program.js';
import { describeLeases } from '../../contracts/leases.js';
import { meta, sessionFiles, temporaryFolder } from '../../session-folder.js';

/** All owners are alive until the test kills them. */
const backend = (make: (owner: LeaseOwner, lives: (marker: string) => boolean) => Leases) => {
  const dead = new Set<string>();
  const lives = (marker: string) => !dead.has(marker);
  return {
    as: (pid: number) => make({ marker: `owner-${pid}`, pid }, lives),
    kill: (pid: number) => void dead.add(`owner-${pid}`),
  };
};

describeLeases('in files', () => {
  const root = temporaryFolder();
  return backend((owner, lives) => new LeaseFiles(root, owner, lives));
});

describeLeases('in memory', () => {
  const held = new Map();
  return backend((owner, lives) => new LeaseMemory(held, owner, lives));
});

const noneAlive = () => false;
const allAlive = () => true;

describe('a lease', () => {
  const owner = (pid: number) => ({ marker: `owner-${pid}`, pid });

  test('is refused with the pid while its owner is alive', () => {
    const folder = join(temporaryFolder(), 'lease');
    takeLease(folder, owner(41), noneAlive);
    expect(() => takeLease(folder, owner(42), allAlive)).toThrow(
      'The session is open in another process (pid 41); stop that one first, or use --fork-session.',
    );
  });

  test('is taken over from a dead owner', () => {
    const folder = join(temporaryFolder(), 'lease');
    takeLease(folder, owner(41), noneAlive);
    expect(takeLease(folder, owner(42), (marker) => marker !== 'owner-41').epoch).toBe(2);
  });

  test('is free after a release, also if its owner is alive', () => {
    const folder = join(temporaryFolder(), 'lease');
    takeLease(folder, owner(41), noneAlive).release();
    expect(takeLease(folder, owner(42), allAlive).epoch).toBe(2);
  });

  test('of another machine is refused, because its owner cannot be checked', () => {
    const folder = join(temporaryFolder(), 'lease');
    fs.mkdirSync(folder);
    fs.writeFileSync(join(folder, '7'), JSON.stringify({ ...owner(41), host: 'elsewhere' }));
    expect(() => takeLease(folder, owner(42), noneAlive)).toThrow('open on elsewhere (pid 41)');
  });

  test('with an unreadable file is free', () => {
    const folder = join(temporaryFolder(), 'lease');
    fs.mkdirSync(folder);
    fs.writeFileSync(join(folder, '7'), 'half a le');
    expect(takeLease(folder, owner(42), allAlive).epoch).toBe(8);
  });

  test('is refused to a slow process if a newer lease was taken meanwhile', () => {
    const folder = join(temporaryFolder(), 'lease');
    takeLease(folder, owner(41), noneAlive).release();
    // While the slow process checks the first owner, two others take the lease and a process releases it.
    const slow = () =>
      takeLease(folder, owner(42), (marker) => {
        if (marker !== 'owner-41') return true;
        takeLease(folder, owner(43), noneAlive).release();
        takeLease(folder, owner(44), noneAlive);
        return false;
      });
    fs.rmSync(join(folder, '1.released'));
    expect(slow).toThrow('pid 44');
    expect(fs.readdirSync(folder)).toEqual(['3']);
  });

  test('keeps only the files of the current epoch', () => {
    const folder = join(temporaryFolder(), 'lease');
    for (let round = 0; round < 5; round += 1) takeLease(folder, owner(round), noneAlive).release();
    expect(fs.readdirSync(folder).sort()).toEqual(['5', '5.released']);
  });
});

const ended = async (child: ChildProcess) => {
  if (child.exitCode === null) await once(child, 'exit');
};

const lines = (child: ChildProcess) => {
  if (child.stdout === null) throw new Error('no stdout');
  return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
};

describe('processes that open the same session', () => {
  test('own it one at a time, each under a different epoch', async () => {
    const root = temporaryFolder();
    await (await sessionFiles(root).create(meta())).close();
    const program = await bundled('race-for-session');
    const processes = Array.from({ length: 20 }, () =>
      spawn(process.execPath, [program, root, '25'], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    const output = processes.map(lines);
    await Promise.all(output.map((line) => line.next()));
    for (const { stdin } of processes) stdin.write('go\n');
    const reports = await Promise.all(
      output.map(async (line) => {
        const { value } = await line.next();
        return JSON.parse(String(value)) as {
          epochs: number[];
          refused: number;
          collisions: string[];
        };
      }),
    );
    await Promise.all(processes.map(ended));
    expect(reports.flatMap(({ collisions }) => collisions)).toEqual([]);
    const epochs = reports.flatMap((report) => report.epochs);
    expect(new Set(epochs).size).toBe(epochs.length);
    expect(Math.max(...epochs)).toBe(epochs.length + 1);
    expect(epochs.length + reports.reduce((sum, { refused }) => sum + refused, 0)).toBe(500);
  });

  test('take it over from a killed process', async () => {
    const root = temporaryFolder();
    const program = ['--import', 'tsx', 'tests/store/fixtures/hold-session.ts', root];
    const holder = spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'inherit'] });
    const { value: ready } = await lines(holder).next();
    expect(ready).toBe('holding');
    const { ownerLives, ownerMarker } = await import(
      '../../../../src/host/process/ownership/owner-marker.js'
    );
    const { FileSessionStore } = await import('../../../../src/store/files/file-session-store.js');
    const { systemClock } = await import('../../../../src/protocol/clock.js');
    const owner = { marker: ownerMarker('test'), pid: process.pid };
    const store = new FileSessionStore({
      root,
      owner,
      isOwnerAlive: ownerLives,
      clock: systemClock,
    });
    await expect(store.open('s_1')).rejects.toThrow(`(pid ${holder.pid})`);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const session = await store.open('s_1');
    expect(session.epoch).toBe(2);
    expect((await session.journal('a_1', null)).past.records).toHaveLength(1);
    await session.close();
  });
});

needs.describe('root-mounts')('a full disk', () => {
  test('stores a record completely or not at all', async () => {
    const root = temporaryFolder();
    const program = await bundled('fill-disk');
    const script = 'mount -t tmpfs -o size=256k none "$1" && exec "$2" "$3" "$1"';
    const args = ['-m', 'sh', '-c', script, 'sh', root, process.execPath, program];
    const { stdout } = await promisify(execFile)('unshare', args);
    expect(JSON.parse(stdout)).toEqual({
      isStorageError: true,
      says: expect.stringContaining('the disk is full; free some space and resume'),
      endsWithWholeLine: true,
      seqAfter: 1,
      kept: 1,
      damage: [],
      events: 1,
    });
  });
});
