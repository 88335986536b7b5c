import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BetaLatch } from '../../../src/context/cache/beta-latch.js';

const features = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 4 });

describe('the latch of beta features (K8)', () => {
  test('is empty until a feature is requested', () => {
    const latch = new BetaLatch();
    latch.record();
    latch.record([]);
    expect(latch.with([])).toEqual([]);
  });

  test('keeps every sent feature, once and sorted', () => {
    fc.assert(
      fc.property(fc.array(features), (requests) => {
        const latch = new BetaLatch();
        let before: readonly string[] = [];
        for (const requested of requests) {
          const sent = latch.with(requested);
          expect(sent).toEqual([...new Set([...before, ...requested])].sort());
          latch.record(sent);
          before = sent;
        }
      }),
    );
  });

  test('does not keep features that were not sent', () => {
    const latch = new BetaLatch();
    latch.with(['a']);
    expect(latch.with([])).toEqual([]);
  });
});
