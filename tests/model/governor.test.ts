import { describe, expect, test } from 'vitest';
import { governor } from '../../src/model/governor.js';
import { settled, virtualClock } from '../fakes/virtual-clock.js';
import { describeGovernor } from '../store/contracts/governor.js';

describeGovernor('of one process', (places) => {
  const clock = virtualClock();
  const single = governor(clock, places);
  const { now, advance } = clock;
  return { governor: () => single, now, advance, settle: settled };
});

describe('a governor that delayed a request', () => {
  test('leaves no timer behind after several holdUntil() calls', async () => {
    const clock = virtualClock();
    const guard = governor(clock, 5);
    guard.holdUntil(clock.now() + 1_000);
    const entered = guard.enter(new AbortController().signal);
    guard.holdUntil(clock.now() + 3_000);
    guard.holdUntil(clock.now() + 2_000);
    expect(clock.sleepers).toBe(1);
    await clock.advance(3_000);
    await entered;
    expect(clock.sleepers).toBe(0);
  });
});

test('a governor without a slot throws at once', () => {
  expect(() => governor(virtualClock(), 0)).toThrow(
    'No request may be sent: skein.maxConcurrentRequests is 0. Set it to 1 or more.',
  );
});

test('a request that need not wait adds no listener to its signal', async () => {
  const guard = governor(virtualClock(), 1);
  const { signal } = new AbortController();
  let listeners = 0;
  signal.addEventListener = () => {
    listeners += 1;
  };
  const leave = await guard.enter(signal);
  expect(listeners).toBe(0);
  void guard.enter(signal);
  expect(listeners).toBe(1);
  leave();
});

describe('100000 requests at the governor', () => {
  test('enter or give up in constant time each', async () => {
    const guard = governor(virtualClock(), 1);
    const first = await guard.enter(new AbortController().signal);
    const controllers = Array.from({ length: 100_000 }, () => new AbortController());
    const entries = controllers.map(({ signal }) =>
      guard.enter(signal).then(
        (leave) => {
          leave();
          return 'in';
        },
        () => 'out',
      ),
    );
    // From the end, which is the worst case for a linear search.
    for (const controller of controllers.slice(50_000).reverse()) controller.abort();
    first();
    const outcomes = await Promise.all(entries);
    expect(outcomes.filter((outcome) => outcome === 'in')).toHaveLength(50_000);
    expect(outcomes.indexOf('out')).toBe(50_000);
  });
});
