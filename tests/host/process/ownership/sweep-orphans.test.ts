import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { ownerLives, ownerMarker } from '../../../../src/host/process/ownership/owner-marker.js';
import { sweepOrphans } from '../../../../src/host/process/ownership/sweep-orphans.js';
import { eventually } from '../../../fakes/eventually.js';
import { allDead, isAlive } from '../processes.js';

const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
});

const sleeperOf = async (marker: string) => {
  const child = spawn('sleep', ['1000'], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env.PATH, SKEIN_OWNER: marker },
  });
  await once(child, 'spawn');
  child.unref();
  started.push(child.pid ?? 0);
  return child.pid ?? 0;
};

/** Marker of a process that has ended. */
const deadMarker = async () => {
  const child = spawn('true');
  await once(child, 'exit');
  const [, ...rest] = ownerMarker('x').split('.');
  return ['dead-owner', child.pid, ...rest.slice(1)].join('.');
};

describe('an owner marker', () => {
  test('shows that its owner is alive', () => {
    expect(ownerLives(ownerMarker('a.b.c'))).toBe(true);
  });

  test('shows that its owner is dead', async () => {
    expect(ownerLives(await deadMarker())).toBe(false);
  });

  test('detects a reused pid', () => {
    const [id, pid, start, namespace] = ownerMarker('x').split('.');
    expect(ownerLives([id, pid, Number(start) - 1, namespace].join('.'))).toBe(false);
  });

  test.each(['', 'nonsense', 'x.y.z', 'x.1.1.999'])(
    'counts as alive if it is invalid: "%s"',
    (marker) => {
      expect(ownerLives(marker)).toBe(true);
    },
  );
});

describe('a sweep of orphans', () => {
  test('kills only the processes of condemned owners, and counts them', async () => {
    // Both owners live, so a sweep of a program that another test starts kills neither process.
    const condemned = ownerMarker('condemned');
    const orphan = await sleeperOf(condemned);
    const other = await sleeperOf(ownerMarker('sweep-test'));
    expect(await sweepOrphans((marker) => marker === condemned)).toBe(1);
    await eventually('the orphan is dead', () => allDead([orphan]));
    expect(isAlive(other)).toBe(true);
  });

  test('leaves no process of a dead owner', async () => {
    const dead = await deadMarker();
    const orphan = await sleeperOf(dead);
    await sweepOrphans((marker) => marker === dead && !ownerLives(marker));
    await eventually('the orphan is dead', () => allDead([orphan]));
  });
});
