import { describe, expect, test } from 'vitest';
import { SpawnThrottle } from '../../../src/actors/spawn/spawn-throttle.js';

/** Passes `many` spawns and counts the passed spawns after each round of the event loop. */
const passing = async (many: number, throttle = new SpawnThrottle()) => {
  const passed: number[] = [];
  const counts: number[] = [];
  for (let id = 0; id < many; id += 1) void throttle.next().then(() => passed.push(id));
  await Promise.resolve();
  counts.push(passed.length);
  while (passed.length < many) {
    await new Promise((resolve) => setImmediate(resolve));
    counts.push(passed.length);
  }
  return { passed, counts };
};

describe('SpawnThrottle', () => {
  test('passes 16 spawns at once', async () => {
    expect((await passing(16)).counts).toEqual([16]);
  });

  test('doubles the batch in each round of the event loop and keeps the order', async () => {
    const { passed, counts } = await passing(120);
    expect(counts).toEqual([16, 48, 112, 120]);
    expect(passed).toEqual(Array.from({ length: 120 }, (_, id) => id));
  });

  test('resets after a pause', async () => {
    const throttle = new SpawnThrottle();
    await passing(40, throttle);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect((await passing(16, throttle)).counts).toEqual([16]);
  });
});
