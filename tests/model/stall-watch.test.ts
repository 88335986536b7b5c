import { describe, expect, test } from 'vitest';
import { type StalledError, stallWatch } from '../../src/model/stall-watch.js';
import { virtualClock } from '../fakes/virtual-clock.js';

/** Exchanges under a single watch with a limit of one minute. */
const setUp = () => {
  const clock = virtualClock();
  const watch = stallWatch(clock, 60_000);
  const exchange = () => {
    const state = { bytes: 0, stalled: undefined as StalledError | undefined, end: () => {} };
    state.end = watch.watch({
      progress: () => state.bytes,
      onStall: (error) => {
        state.stalled = error;
      },
    });
    return state;
  };
  return { clock, exchange };
};

describe('the stall watch', () => {
  test('reports a silent exchange at most a quarter of the limit late', async () => {
    const { clock, exchange } = setUp();
    await clock.advance(1);
    const silent = exchange();
    await clock.advance(59_000);
    expect(silent.stalled).toBeUndefined();
    await clock.advance(16_000);
    expect(silent.stalled?.message).toBe('The model has sent nothing for 60 seconds.');
  });

  test('does not report an exchange that receives bytes regularly', async () => {
    const { clock, exchange } = setUp();
    const slow = exchange();
    for (let minute = 0; minute < 10; minute += 1) {
      await clock.advance(55_000);
      slow.bytes += 1;
    }
    expect(slow.stalled).toBeUndefined();
  });

  test('reports a silent exchange only once, and no other exchange', async () => {
    const { clock, exchange } = setUp();
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

  test('has a single timer for all exchanges, and no timer without exchanges', async () => {
    const { clock, exchange } = setUp();
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

  test('does not report an ended exchange', async () => {
    const { clock, exchange } = setUp();
    const done = exchange();
    done.end();
    done.end();
    await clock.advance(200_000);
    expect(done.stalled).toBeUndefined();
  });
});
