import { describe, expect, test } from 'vitest';
import { SpawnThrottle } from '../../../src/actors/spawn/spawn-throttle.js';

/** How many have passed after each turn of the event loop, until all have. */
const passing = async (many: number, turnstile = new SpawnThrottle()) => {
  const passed: number[] = [];
  const counts: number[] = [];
  for (let id = 0; id < many; id += 1) void turnstile.next().then(() => passed.push(id));
  await Promise.resolve();
  counts.push(passed.length);
  while (passed.length < many) {
    await new Promise((resolve) => setImmediate(resolve));
    counts.push(passed.length);
  }
  return { passed, counts };
};

describe('a turnstile', () => {
  test('lets a few pass at once', async () => {
    expect((await passing(16)).counts).toEqual([16]);
  });

  test('lets twice as many pass in each turn of the event loop, in the order in which they came', async () => {
    const { passed, counts } = await passing(120);
    expect(counts).toEqual([16, 48, 112, 120]);
    expect(passed).toEqual(Array.from({ length: 120 }, (_, id) => id));
  });

  test('is open again for those who come later', async () => {
    const turnstile = new SpawnThrottle();
    await passing(40, turnstile);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect((await passing(16, turnstile)).counts).toEqual([16]);
  });
});
