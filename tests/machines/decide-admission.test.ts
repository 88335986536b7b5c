import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AdmissionRequest,
  countAdmission,
  decideAdmission,
  NO_SLOTS_USED,
  releaseSlot,
  type SlotCounts,
} from '../../src/machines/decide-admission.js';

const LIMITS = { maxAgents: 5, maxConcurrentAgents: 2, maxDepth: 3 };

const request = (change: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  depth: 1,
  isNew: true,
  borrowsSlot: false,
  ...change,
});

const counts = (change: Partial<SlotCounts>): SlotCounts => ({ ...NO_SLOTS_USED, ...change });

describe('the admission of a child', () => {
  test.each([
    ['starts it while a slot is free', counts({ live: 1 }), request(), 'start'],
    ['queues it when all slots are taken', counts({ live: 2 }), request(), 'queue'],
    ['starts it in a borrowed slot', counts({ live: 2 }), request({ borrowsSlot: true }), 'start'],
    ['refuses it beyond the maximum depth', counts({}), request({ depth: 4 }), { refuse: 'depth' }],
    [
      'refuses it over the agent limit of a run',
      counts({ spawned: 5 }),
      request(),
      { refuse: 'total' },
    ],
    [
      'restarts an agent regardless of depth and number of spawns',
      counts({ spawned: 9 }),
      request({ isNew: false, depth: 9 }),
      'start',
    ],
  ])('%s', (_, before, requested, decision) => {
    expect(decideAdmission(before, LIMITS, requested)).toEqual(decision);
  });

  test('refuses every child if no agent may run', () => {
    const none = { ...LIMITS, maxConcurrentAgents: 0 };
    const restarted = request({ isNew: false, borrowsSlot: true });
    expect(decideAdmission(NO_SLOTS_USED, none, restarted)).toEqual({ refuse: 'none' });
  });
});

describe('the counts of slots', () => {
  type Step = AdmissionRequest | 'release';

  const steps = fc.array(
    fc.oneof(
      fc.constant<Step>('release'),
      fc.record({
        depth: fc.integer({ min: 1, max: 4 }),
        isNew: fc.boolean(),
        borrowsSlot: fc.constant(false),
      }),
    ),
    { maxLength: 60 },
  );
  const limits = fc.record({
    maxAgents: fc.integer({ min: 0, max: 20 }),
    maxConcurrentAgents: fc.integer({ min: 0, max: 5 }),
    maxDepth: fc.integer({ min: 0, max: 4 }),
  });

  /** Applies a step and returns the violations in the resulting counts. */
  const step = (
    now: SlotCounts,
    bounds: typeof LIMITS,
    next: Step,
  ): { readonly now: SlotCounts; readonly violations: readonly string[] } => {
    if (next === 'release') {
      if (now.live === 0) return { now, violations: [] };
      const { counts: after, startsNext } = releaseSlot(now, bounds);
      const isOneLess = after.live + after.queued === now.live + now.queued - 1;
      const violations = [
        ...(startsNext === now.queued > 0 ? [] : ['a queued child did not start']),
        ...(isOneLess ? [] : ['a slot was lost or made up']),
      ];
      return { now: after, violations };
    }
    const decision = decideAdmission(now, bounds, next);
    if (typeof decision === 'object') return { now, violations: [] };
    const after = countAdmission(now, decision, next);
    const isFull = now.live === bounds.maxConcurrentAgents;
    const violations = [
      ...(decision === 'queue' && !isFull ? ['queued beside a free slot'] : []),
      ...(after.live > bounds.maxConcurrentAgents ? ['too many slots'] : []),
      ...(next.isNew && after.spawned > bounds.maxAgents ? ['too many spawns'] : []),
    ];
    return { now: after, violations };
  };

  test('stay within the limits, queue only if all slots are taken, and start queued children first', () => {
    fc.assert(
      fc.property(limits, steps, (bounds, taken) => {
        let now = NO_SLOTS_USED;
        const found: string[] = [];
        for (const next of taken) {
          const result = step(now, bounds, next);
          now = result.now;
          found.push(...result.violations);
        }
        expect(found).toEqual([]);
      }),
    );
  });

  test('drop a slot over the limit instead of passing it on', () => {
    const over = counts({ live: 3, queued: 1 });
    expect(releaseSlot(over, LIMITS)).toEqual({
      counts: counts({ live: 2, queued: 1 }),
      startsNext: false,
    });
  });
});
