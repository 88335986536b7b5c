import { describe, expect, test } from 'vitest';
import { type StalledError, stallWatch } from '../../src/model/stall-watch.js';
import { virtualClock } from '../fakes/virtual-clock.js';

/** Exchanges under one watch with a limit of a minute. */
const watched = () => {
  const clock = virtualClock();
  const watch = stallWatch(clock, 60_000);
  const exchange = () => {
    const it = { bytes: 0, stalled: undefined as StalledError | undefined, end: () => {} };
    it.end = watch.watch({
      progress: () => it.bytes,
      onStall: (error) => {
        it.stalled = error;
      },
    });
    return it;
  };
  return { clock, exchange };
};

describe('the stall watch', () => {
  test('notices a silence, at most a quarter late', async () => {
    const { clock, exchange } = watched();
    await clock.advance(1);
    const silent = exchange();
    await clock.advance(59_000);
    expect(silent.stalled).toBeUndefined();
    await clock.advance(16_000);
    expect(silent.stalled?.message).toBe('The model has sent nothing for 60 seconds.');
  });

  test('lets an exchange live that says something now and then', async () => {
    const { clock, exchange } = watched();
    const slow = exchange();
    for (let minute = 0; minute < 10; minute += 1) {
      await clock.advance(55_000);
      slow.bytes += 1;
    }
    expect(slow.stalled).toBeUndefined();
  });

  test('tells a silence once, and only of the one that is silent', async () => {
    const { clock, exchange } = watched();
    const [silent, busy] = [exchange(), exchange()];
    for (let step = 0; step < 8; step += 1) {
      await clock.advance(15_000);
      busy.bytes += 1;
    }
    expect(silent.stalled).toBeDefined();
    silent.stalled = undefined;
    await clock.advance(60_000);
    expect(silent.stalled).toBeUndefined();
    busy.end();
  });

  test('has one timer for all, and none when nobody is watched', async () => {
    const { clock, exchange } = watched();
    expect(clock.sleepers).toBe(0);
    const all = Array.from({ length: 50 }, exchange);
    expect(clock.sleepers).toBe(1);
    await clock.advance(20_000);
    expect(clock.sleepers).toBe(1);
    for (const { end } of all) end();
    expect(clock.sleepers).toBe(0);
    exchange();
    expect(clock.sleepers).toBe(1);
  });

  test('forgets what has ended', async () => {
    const { clock, exchange } = watched();
    const done = exchange();
    done.end();
    done.end();
    await clock.advance(200_000);
    expect(done.stalled).toBeUndefined();
  });
});
