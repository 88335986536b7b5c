import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BetaLatch } from '../../../src/context/cache/beta-latch.js';

const features = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 4 });

describe('the latch of beta features (K8)', () => {
  test('asks for nothing until something is wanted', () => {
    const latch = new BetaLatch();
    latch.record();
    latch.record([]);
    expect(latch.with([])).toEqual([]);
  });

  test('never lets go of what was sent, and names each feature once', () => {
    fc.assert(
      fc.property(fc.array(features), (wishes) => {
        const latch = new BetaLatch();
        let before: readonly string[] = [];
        for (const wanted of wishes) {
          const sent = latch.with(wanted);
          expect(sent).toEqual([...new Set([...before, ...wanted])].sort());
          latch.record(sent);
          before = sent;
        }
      }),
    );
  });

  test('does not keep what was only thought of', () => {
    const latch = new BetaLatch();
    latch.with(['a']);
    expect(latch.with([])).toEqual([]);
  });
});
