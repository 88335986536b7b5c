import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentEvent, AgentInput } from '../../src/protocol/agent/agent-state.js';
import { type AgentInHand, agentInHand } from './agent-in-hand.js';

/**
 * What the world may say to an agent at this moment: only what a slot that is at work could say.
 * Letters, interrupts and full disks may come at any time.
 */
const sayable = (agent: AgentInHand, fresh: () => string): readonly AgentEvent[] => {
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
const callEnded = (id: string, failed: boolean): AgentEvent => ({ type: 'call.ended', id, failed });
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
  maxFailedTurns: fc.integer({ min: 1, max: 3 }),
});

/** Takes the walk that `picks` describes, and looks after every step. */
const walk = (agent: AgentInHand, picks: readonly number[], look: () => void): void => {
  let named = 0;
  const fresh = () => {
    named += 1;
    return `c${named}`;
  };
  look();
  for (const pick of picks) {
    if (agent.actor.getSnapshot().status !== 'active') return;
    const events = sayable(agent, fresh);
    const event = events[pick % events.length];
    if (event !== undefined) agent.tell(event);
    look();
  }
};

const walks = fc.tuple(inputs, limits, fc.array(fc.nat(10_000), { maxLength: 60 }));
const eachWalk = (look: (agent: AgentInHand, orders: readonly string[]) => void, runs = 150) => {
  fc.assert(
    fc.property(walks, ([input, bounds, picks]) => {
      const agent = agentInHand({ ...input, limits: bounds });
      let heard = 0;
      walk(agent, picks, () => {
        look(agent, agent.orders.slice(heard));
        heard = agent.orders.length;
      });
    }),
    { numRuns: runs, seed: 7 },
  );
};

describe('on any walk through its states, an agent', () => {
  test('rests in every state but the one it only passes through', () => {
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

  test('never fails, and has a reason exactly when it stopped', () => {
    eachWalk(({ actor }) => {
      const { status, value, context, output } = actor.getSnapshot();
      const isOver = value === 'stopped';
      expect([status, output?.stop]).toEqual(
        isOver ? ['done', context.stop] : ['active', undefined],
      );
      expect(context.stop === null && /stopped|idle/.test(String(value))).toBe(false);
    });
  });

  test('is never left in a state where nothing can happen to it', () => {
    eachWalk(({ actor }) => {
      const { value, context } = actor.getSnapshot();
      const open = [...context.calls].filter(({ status }) => !/completed|yielded/.test(status));
      const asks = open.some(({ status }) => status === 'asking') && context.stop === null;
      const isRight: Record<string, boolean> = {
        'tool-running': open.length > 0,
        'awaiting-permission': asks,
        idle: open.length === 0,
        retrying: open.length === 0,
        compacting: open.length === 0,
      };
      expect(isRight[String(value)] ?? true).toBe(true);
    });
  });

  test('has the crew start a call at most once, after a ruling, and never when stopping', () => {
    eachWalk((agent, orders) => {
      const { context } = agent.actor.getSnapshot();
      const started = orders.filter((order) => order.startsWith('call.start'));
      const ids = agent.orders.filter((order) => order.startsWith('call.start'));
      expect(new Set(ids).size).toBe(ids.length);
      const isWindingDown = context.stop !== null && agent.state !== 'stopped';
      expect(isWindingDown ? started : []).toEqual([]);
    });
  });

  test('never has an unsafe call overlap another', () => {
    eachWalk(({ actor }) => {
      const { calls } = actor.getSnapshot().context;
      const busy = [...calls].filter(({ status }) => status === 'executing');
      expect(busy.length < 2 || busy.every(({ safe }) => safe)).toBe(true);
    });
  });

  test('runs nothing with effects before the message has ended', () => {
    eachWalk((agent) => {
      if (agent.state !== 'streaming') return;
      const { calls } = agent.actor.getSnapshot().context;
      const busy = [...calls].filter(({ status }) => status === 'executing');
      expect(busy.every(({ readOnly }) => readOnly)).toBe(true);
    });
  });

  test('shows results once per turn that has any, and only when all are there', () => {
    eachWalk((agent, orders) => {
      const shown = orders.filter((order) => order === 'calls.yield').length;
      expect(shown).toBeLessThanOrEqual(1);
      const { calls } = agent.actor.getSnapshot().context;
      const areThere = [...calls].every(({ status }) => status === 'yielded');
      expect(shown === 0 || agent.state === 'streaming' || areThere).toBe(true);
    });
  });

  test('stays within every bound', () => {
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
