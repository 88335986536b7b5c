import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentEvent, AgentInput } from '../../src/protocol/agent/agent-state.js';
import { type AgentHarness, agentHarness } from './agent-harness.js';

/**
 * Events that an agent may receive now: only events of slots that run. Letters, interrupts and storage
 * failures are possible at any time.
 */
const possibleEvents = (agent: AgentHarness, fresh: () => string): readonly AgentEvent[] => {
  const { value, context } = agent.actor.getSnapshot();
  const anywhere: AgentEvent[] = [
    { type: 'prompt.submit' },
    { type: 'agent.interrupt', stop: { reason: 'interrupted', detail: null } },
  ];
  const rare: AgentEvent[] = [{ type: 'storage.failed', detail: 'Full.' }];
  const crew = [...context.calls].flatMap(({ id, status }): AgentEvent[] => {
    const kinds = [true, false].flatMap((readOnly) =>
      [true, false].map((safe) => ({ id, readOnly, safe, onlyWaits: safe && !readOnly })),
    );
    if (status === 'executing') return [callEnded(id, false), callEnded(id, true)];
    if (context.stop !== null && status !== 'completed' && status !== 'yielded') {
      return [callEnded(id, false)];
    }
    if (status === 'judging') {
      return [
        ...kinds.map((kind): AgentEvent => ({ type: 'call.ruled', ...kind })),
        ...kinds.map((kind): AgentEvent => ({ type: 'call.asking', ...kind })),
        callEnded(id, true),
      ];
    }
    if (status !== 'asking') return [];
    const denial: AgentEvent[] = [
      callEnded(id, true),
      { type: 'agent.interrupt', stop: { reason: 'denied', detail: 'No.' } },
    ];
    return [...kinds.map((kind): AgentEvent => ({ type: 'call.ruled', ...kind })), ...denial];
  });
  if (value === 'streaming') {
    const stops = ['end_turn', 'tool_use', 'max_tokens', 'refusal', 'pause_turn', 'interrupted'];
    const turn: AgentEvent[] = [
      ...stops.map((stopReason): AgentEvent => ({ type: 'turn.ended', stopReason })),
      ...FAILURES,
      { type: 'call.drafted', id: fresh() },
      { type: 'call.drafted', id: fresh() },
      { type: 'turn.refused', stop: { reason: 'budget', detail: null } },
    ];
    const letters = context.waiting > 0 ? [taken(context.waiting)] : [];
    const isFull = agent.turns.at(-1)?.mayCompact === true && context.attempt === 1;
    const room: AgentEvent[] =
      isFull && context.calls.size === 0 ? [{ type: 'room.needed', gapTokens: 9 }] : [];
    return [...anywhere, ...crew, ...turn, ...room, ...letters, ...rare];
  }
  if (value === 'retrying') return [...anywhere, { type: 'pause.over' }, ...rare];
  if (value === 'compacting') {
    const failed: AgentEvent = { type: 'compaction.failed', detail: 'Nothing to drop.' };
    const made: AgentEvent[] = [{ type: 'context.compacted' }, { type: 'compaction.declined' }];
    return [...anywhere, ...made, failed, ...rare];
  }
  if (value === 'idle') return [...anywhere, { type: 'context.compact' }, ...rare];
  const review: AgentEvent[] =
    context.review === 'running' && context.stop === null ? [reviewed(true), reviewed(false)] : [];
  return [...anywhere, ...crew, ...review, ...rare];
};

const reviewed = (sentBack: boolean): AgentEvent => ({ type: 'run.reviewed', sentBack });
const taken = (count: number): AgentEvent => ({ type: 'letters.taken', count });
const callEnded = (id: string, refused: boolean): AgentEvent => ({
  type: 'call.ended',
  id,
  refused,
});
const FAILURES = (['overloaded', 'prompt-too-long', 'dropped', 'rejected'] as const).map(
  (kind): AgentEvent => ({
    type: 'turn.failed',
    kind,
    message: 'No.',
    retryAfterMs: null,
    gapTokens: null,
  }),
);

const inputs: fc.Arbitrary<Partial<Omit<AgentInput, 'limits'>>> = fc.record({
  staysIdle: fc.boolean(),
  hasFallback: fc.boolean(),
  hasReview: fc.boolean(),
  waiting: fc.nat(2),
  owesAnswer: fc.boolean(),
  cutShort: fc.boolean(),
  openCalls: fc.uniqueArray(
    fc.record({ id: fc.constantFrom('x1', 'x2'), completed: fc.boolean() }),
    {
      selector: ({ id }) => id,
    },
  ),
});
const limits = fc.record({
  maxTurns: fc.constantFrom(null, 1, 5),
  maxRetries: fc.nat(2),
  overloadsBeforeFallback: fc.integer({ min: 1, max: 2 }),
  maxContinuations: fc.nat(1),
  maxPauses: fc.nat(2),
  maxCompactions: fc.nat(1),
  maxSentBack: fc.nat(1),
  maxRefusedTurns: fc.integer({ min: 1, max: 3 }),
});

/** Sends the events that `picks` selects, and calls `look` after every step. */
const walk = (agent: AgentHarness, picks: readonly number[], look: () => void): void => {
  let named = 0;
  const fresh = () => {
    named += 1;
    return `c${named}`;
  };
  look();
  for (const pick of picks) {
    if (agent.actor.getSnapshot().status !== 'active') return;
    const events = possibleEvents(agent, fresh);
    const event = events[pick % events.length];
    if (event !== undefined) agent.send(event);
    look();
  }
};

const walks = fc.tuple(inputs, limits, fc.array(fc.nat(10_000), { maxLength: 60 }));
const eachWalk = (look: (agent: AgentHarness, orders: readonly string[]) => void, runs = 150) => {
  fc.assert(
    fc.property(walks, ([input, bounds, picks]) => {
      const agent = agentHarness({ ...input, limits: bounds });
      let reported = 0;
      walk(agent, picks, () => {
        look(agent, agent.orders.slice(reported));
        reported = agent.orders.length;
      });
    }),
    { numRuns: runs, seed: 7 },
  );
};

describe('on any walk through its states, an agent', () => {
  test('can be in every state except the transient state waking', () => {
    const seen = new Set<string>();
    const reasons = new Set<string>();
    eachWalk((agent) => {
      seen.add(agent.state);
      const reason = agent.stopReason();
      if (reason !== undefined) reasons.add(reason);
    }, 1_000);
    expect([...seen].sort()).toEqual([
      'awaiting-permission',
      'compacting',
      'idle',
      'retrying',
      'stopped',
      'streaming',
      'tool-running',
    ]);
    expect(reasons.size).toBe(10);
  });

  test('never fails, and has an output with its stop exactly when it has stopped', () => {
    eachWalk(({ actor }) => {
      const { status, value, context, output } = actor.getSnapshot();
      const isOver = value === 'stopped';
      expect([status, output?.stop]).toEqual(
        isOver ? ['done', context.stop] : ['active', undefined],
      );
      expect(context.stop === null && /stopped|idle/.test(String(value))).toBe(false);
    });
  });

  test('is never in a state that no event can end', () => {
    eachWalk(({ actor }) => {
      const { value, context } = actor.getSnapshot();
      const open = [...context.calls].filter(({ status }) => !/completed|yielded/.test(status));
      const asks = open.some(({ status }) => status === 'asking') && context.stop === null;
      const isReviewed = context.review === 'running' && context.stop === null;
      const isRight: Record<string, boolean> = {
        'tool-running': open.length > 0 || isReviewed,
        'awaiting-permission': asks,
        idle: open.length === 0,
        retrying: open.length === 0,
        compacting: open.length === 0,
      };
      expect(isRight[String(value)] ?? true).toBe(true);
    });
  });

  test('starts a call at most once, and never while stopping', () => {
    eachWalk((agent, orders) => {
      const { context } = agent.actor.getSnapshot();
      const started = orders.filter((order) => order.startsWith('call.start'));
      const ids = agent.orders.filter((order) => order.startsWith('call.start'));
      expect(new Set(ids).size).toBe(ids.length);
      const isWindingDown = context.stop !== null && agent.state !== 'stopped';
      expect(isWindingDown ? started : []).toEqual([]);
    });
  });

  test('never runs an unsafe call together with another call', () => {
    eachWalk(({ actor }) => {
      const { calls } = actor.getSnapshot().context;
      const busy = [...calls].filter(({ status }) => status === 'executing');
      expect(busy.length < 2 || busy.every(({ safe }) => safe)).toBe(true);
    });
  });

  test('runs only read-only calls before the message has ended', () => {
    eachWalk((agent) => {
      if (agent.state !== 'streaming') return;
      const { calls } = agent.actor.getSnapshot().context;
      const busy = [...calls].filter(({ status }) => status === 'executing');
      expect(busy.every(({ readOnly }) => readOnly)).toBe(true);
    });
  });

  test('yields results at most once per step, and only when all calls have ended', () => {
    eachWalk((agent, orders) => {
      const shown = orders.filter((order) => order === 'calls.yield').length;
      expect(shown).toBeLessThanOrEqual(1);
      const { calls } = agent.actor.getSnapshot().context;
      const areThere = [...calls].every(({ status }) => status === 'yielded');
      expect(shown === 0 || agent.state === 'streaming' || areThere).toBe(true);
    });
  });

  test('stays within its limits', () => {
    eachWalk(({ actor }) => {
      const { context } = actor.getSnapshot();
      const { limits: bounds } = context;
      expect(context.retries).toBeLessThanOrEqual(bounds.maxRetries);
      expect(context.compactions).toBeLessThanOrEqual(bounds.maxCompactions);
      const { maxContinuations, maxPauses } = bounds;
      expect(context.continuations).toBeLessThanOrEqual(Math.max(maxContinuations, maxPauses));
      expect(context.waiting).toBeGreaterThanOrEqual(0);
      expect(context.turn).toBeLessThanOrEqual(bounds.maxTurns ?? context.turn);
    });
  });
});
