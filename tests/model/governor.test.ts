import { describe, expect, test } from 'vitest';
import { governor } from '../../src/model/governor.js';
import { virtualClock } from '../fakes/virtual-clock.js';
import { describeGovernor } from '../store/contracts/governor.js';

describeGovernor('of one process', governor);

describe('a crowd at the governor', () => {
  test('costs each of a hundred thousand the same, whether it goes in or gives up', async () => {
    const guard = governor(virtualClock(), 1);
    const first = await guard.enter(new AbortController().signal);
    const controllers = Array.from({ length: 100_000 }, () => new AbortController());
    const visits = controllers.map(({ signal }) =>
      guard.enter(signal).then(
        (leave) => {
          leave();
          return 'in';
        },
        () => 'out',
      ),
    );
    // From the end, which is the longest way for whoever searches.
    for (const controller of controllers.slice(50_000).reverse()) controller.abort();
    first();
    const outcomes = await Promise.all(visits);
    expect(outcomes.filter((outcome) => outcome === 'in')).toHaveLength(50_000);
    expect(outcomes.indexOf('out')).toBe(50_000);
  });
});
