import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { ownerLives, ownerMarker } from '../../../../src/host/process/ownership/owner-marker.js';
import { sweepOrphans } from '../../../../src/host/process/ownership/sweep-orphans.js';
import { allDead, eventually, isAlive } from '../processes.js';

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

/** The marker of a process that has ended. */
const deadMarker = async () => {
  const child = spawn('true');
  await once(child, 'exit');
  const [, ...rest] = ownerMarker('x').split('.');
  return ['dead-owner', child.pid, ...rest.slice(1)].join('.');
};

describe('a marker', () => {
  test('tells that its owner lives', () => {
    expect(ownerLives(ownerMarker('a.b.c'))).toBe(true);
  });

  test('tells that its owner is dead', async () => {
    expect(ownerLives(await deadMarker())).toBe(false);
  });

  test('is not fooled by a number that was given out again', () => {
    const [id, pid, start, namespace] = ownerMarker('x').split('.');
    expect(ownerLives([id, pid, Number(start) - 1, namespace].join('.'))).toBe(false);
  });

  test.each(['', 'nonsense', 'x.y.z', 'x.1.1.999'])(
    'leaves alone what it cannot judge: "%s"',
    (marker) => {
      expect(ownerLives(marker)).toBe(true);
    },
  );
});

describe('a sweep', () => {
  test('ends what dead owners left, and nothing else', async () => {
    const dead = await deadMarker();
    const orphan = await sleeperOf(dead);
    const mine = await sleeperOf(ownerMarker('sweep-test'));
    const killed = await sweepOrphans((marker) => marker === dead && !ownerLives(marker));
    expect(killed).toBe(1);
    await eventually('the orphan is dead', () => allDead([orphan]));
    expect(isAlive(mine)).toBe(true);
  });
});
