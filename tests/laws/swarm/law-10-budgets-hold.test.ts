/** Law 10 for trees of agents: budgets are not exceeded by new requests, and no work is lost. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { governor } from '../../../src/model/governor.js';
import {
  follow,
  histories,
  type Plan,
  type PlannedSwarm,
  priceOf,
} from '../../actors/swarm/planned-swarm.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import { virtualClock } from '../../fakes/virtual-clock.js';

const leaf = (change: Partial<Plan> = {}): Plan => ({
  kind: 'sync',
  looks: 1,
  output: 100,
  children: [],
  ...change,
});

const WIDE = { maxAgents: 1_000, maxConcurrentAgents: 1_000, maxDepth: 5 };

const KINDS = ['sync', 'fork', 'background', 'forked'] as const;

/** Tree with at most this number of levels. */
const trees = (levels: number): fc.Arbitrary<Plan> =>
  fc.record({
    kind: fc.constantFrom(...KINDS),
    looks: fc.nat(2),
    output: fc.integer({ min: 1, max: 3_000 }),
    children: levels === 0 ? fc.constant([]) : fc.array(trees(levels - 1), { maxLength: 3 }),
  });

/**
 * The last answer is expensive, and arrives when other requests have reserved money but are not
 * sent.
 */
const LATE_EXPENSIVE_ANSWER = ((): Plan => {
  const small = (...children: readonly Plan[]) => leaf({ looks: 0, output: 1, children });
  const expensive = leaf({ looks: 0, output: 883 });
  const forked = leaf({ kind: 'forked', looks: 0, output: 1 });
  return small(small(small(forked), small(expensive)));
})();

/** Tokens of an answer with its prompt. */
const tokensOf = (output: number): number => 100 + output;
const maxTokensOf = ({ output, children }: Plan): number =>
  Math.max(tokensOf(output), ...children.map(maxTokensOf));

const maxPriceOf = ({ output, children }: Plan): number =>
  Math.max(priceOf(output), ...children.map(maxPriceOf));

/** Ends of the lead and of its descendants, in the order of their calls. */
const endings = ({ reports, items }: PlannedSwarm) => {
  const own = items.findLast((it) => it.type === 'run.ended');
  const below = reports.toSorted((a, b) => (a.agent.call < b.agent.call ? -1 : 1));
  return [
    own?.type === 'run.ended' ? own.stop.reason : '',
    ...below.map(({ stop, turns }) => `${stop.reason} after ${turns}`),
  ];
};

/** Share of a free run that the budget covers. `fc.double` would draw hardly any share but zero. */
const share = fc.integer({ min: 0, max: 120 }).map((percent) => percent / 100);

describe('a tree of agents with a budget', () => {
  test('sends no request after the budget is spent, and reports the overshoot', async () => {
    await fc.assert(
      fc.asyncProperty(trees(3), share, async (plan, part) => {
        const free = await follow(plan);
        const budget = Math.round(free.spent * part * 1e6) / 1e6;
        const kept = await follow(plan, { maxBudgetUsd: budget });
        const { spent, spentBefore, maxInFlight, lead } = kept;
        expect(spentBefore.every((before) => before < budget)).toBe(true);
        expect(lead.budget.overshoot.usd).toBeCloseTo(Math.max(0, spent - budget), 8);
        expect(lead.budget.overshoot.usd).toBeLessThanOrEqual(maxInFlight * maxPriceOf(plan));
        expect([lead.budget.spent, lead.spent.cost]).toEqual([
          expect.closeTo(spent, 8),
          expect.closeTo(spent, 8),
        ]);
        await expectNoLoss(kept);
      }),
      { numRuns: 20, examples: [[LATE_EXPENSIVE_ANSWER, 0.32177]] },
    );
  });

  test('sends no request after the tokens are used up, and reports the overshoot', async () => {
    await fc.assert(
      fc.asyncProperty(trees(3), share, async (plan, part) => {
        const free = await follow(plan);
        const budget = Math.round(free.tokens * part);
        const kept = await follow(plan, { maxBudgetTokens: budget });
        const { tokens, tokensBefore, maxInFlight, lead } = kept;
        expect(tokensBefore.every((before) => before < budget)).toBe(true);
        const { overshoot } = lead.budget;
        expect(overshoot.tokens).toBe(Math.max(0, tokens - budget));
        expect(overshoot.tokens).toBeLessThanOrEqual(maxInFlight * maxTokensOf(plan));
        await expectNoLoss(kept);
      }),
      { numRuns: 20 },
    );
  });

  test('does not send a queued request if the money was used up meanwhile', async () => {
    const clock = virtualClock();
    const plan = leaf({ children: [leaf({ looks: 0, output: 30_000 }), leaf({ looks: 0 })] });
    const swarm = await follow(plan, {
      clock,
      governor: governor(clock, 1),
      maxBudgetUsd: priceOf(20_000),
    });
    expect(endings(swarm)).toEqual(['budget', 'end_turn after 1', 'budget after 0']);
  });

  test('stops a refused agent with the reason, and its parent receives the partial result', async () => {
    const inner = leaf({ looks: 9 });
    const plan = leaf({ children: [leaf({ kind: 'fork', children: [inner] })] });
    const swarm = await follow(plan, { maxBudgetUsd: 4.5 * priceOf(100) });
    expect(endings(swarm)).toEqual(['budget', 'budget after 1', 'budget after 3']);
    const results = swarm.items.flatMap((it) => {
      const { type, ...item } = it.type === 'agent.feed' ? it.item : it;
      return type === 'tool.results' ? [JSON.stringify(item)] : [];
    });
    const [toFork = '', toLead = ''] = results.filter((it) => it.includes('partial result'));
    expect(toFork).toMatch(/failed.*reason.*budget.*is used up.*0\.0\.0 said 2.*is_error/);
    expect(toLead).toMatch(/failed.*reason.*budget.*is used up.*0\.0 said 0.*is_error/);
  });

  test('reports background agents that ended with the budget once to a resumed lead', async () => {
    const plan = leaf({ children: [leaf({ kind: 'background', looks: 9 })] });
    const poor = await follow(plan, { maxBudgetUsd: 4.5 * priceOf(100) });
    expect(endings(poor)).toEqual(['budget', 'budget after 2']);
    const again = async () => {
      const choice = { kind: 'resume', id: poor.lead.id } as const;
      const swarm = await follow(plan, { store: poor.store, choice }, '');
      const letters = (await swarm.records()).filter(
        (it) => it.type === 'letter.received' && it.from === 'agent',
      );
      return JSON.stringify(letters).match(/0\.0 said 1/g)?.length;
    };
    expect([await again(), await again()]).toEqual([1, 1]);
  });
});

describe('a limit of zero', () => {
  const plan = leaf({ children: [leaf()] });

  test('for money allows no request', async () => {
    const swarm = await follow(plan, { maxBudgetUsd: 0 });
    expect([endings(swarm), swarm.requests.length]).toEqual([['budget'], 0]);
  });

  test('for tokens allows no request', async () => {
    const swarm = await follow(plan, { maxBudgetTokens: 0 });
    expect([endings(swarm), swarm.requests.length]).toEqual([['budget'], 0]);
  });

  test('for turns allows no request', async () => {
    const swarm = await follow(plan, { limits: { maxTurns: 0 } });
    expect([endings(swarm), swarm.requests.length]).toEqual([['max_turns'], 0]);
  });

  test('for turns of a definition starts an agent that sends no request', async () => {
    const swarm = await follow(plan, {
      swarm: { definitions: [agentDefinition({ maxTurns: 0 })] },
    });
    expect(endings(swarm)).toEqual(['end_turn', 'max_turns after 0']);
    expect(swarm.requests).toHaveLength(3);
  });

  test.each([
    ['agents', { maxAgents: 0 }, /has started 0 agents.*skein\.maxAgents.*Do the rest yourself/],
    ['slots', { maxConcurrentAgents: 0 }, /No agent may work \(skein\.maxConcurrentAgents is 0\)/],
    ['depth', { maxDepth: 0 }, /nested 0 deep \(skein\.maxDepth\).*Do the work yourself/],
  ])('for %s starts no agent, and the refusal gives advice', async (_, limit, sentence) => {
    const swarm = await follow(plan, { swarm: { limits: { ...WIDE, ...limit } } });
    expect([endings(swarm), swarm.reports]).toEqual([['end_turn'], []]);
    expect(swarm.said('t0.0')).toMatch(sentence);
  });
});

describe('a limit of turns', () => {
  test('in a definition applies to each of its agents, and not to others', async () => {
    const busy = leaf({ looks: 4 });
    const plan = leaf({ looks: 4, children: [busy, busy, leaf({ ...busy, kind: 'fork' })] });
    const swarm = await follow(plan, {
      swarm: { definitions: [agentDefinition({ maxTurns: 2 })] },
    });
    expect(endings(swarm)).toEqual([
      'end_turn',
      'max_turns after 2',
      'max_turns after 2',
      'end_turn after 5',
    ]);
    expect(swarm.said('t0.0')).toMatch(/used all the turns that it was given.*0\.0 said 1/s);
  });

  test('of the run applies to the whole tree', async () => {
    const plan = leaf({ children: [leaf({ looks: 9 })] });
    const swarm = await follow(plan, { limits: { maxTurns: 5 } });
    expect(endings(swarm)).toEqual(['max_turns', 'max_turns after 4']);
    expect(swarm.requests).toHaveLength(5);
  });

  test.each(['sync', 'background'] as const)(
    'of a %s agent reserves no turns of others',
    async (kind) => {
      const plan = leaf({ looks: 1, children: [leaf({ kind, looks: 0 })] });
      const definitions = [agentDefinition({ maxTurns: 50 })];
      const swarm = await follow(plan, { limits: { maxTurns: 6 }, swarm: { definitions } });
      expect(endings(swarm)).toEqual(['end_turn', 'end_turn after 1']);
    },
  );
});

describe('money of a definition', () => {
  /** Enough for the first two answers. The third is refused. */
  const cap = 1.5 * priceOf(100);
  const capped = [agentDefinition({ maxBudgetUsd: cap })];

  test('limits each of its agents, and no others', async () => {
    const busy = leaf({ looks: 4 });
    const plan = leaf({ looks: 4, children: [busy, busy, leaf({ ...busy, kind: 'fork' })] });
    const swarm = await follow(plan, { swarm: { definitions: capped } });
    expect(endings(swarm)).toEqual([
      'end_turn',
      'budget after 2',
      'budget after 2',
      'end_turn after 5',
    ]);
    expect(swarm.said('t0.0')).toMatch(/The agent's share of the budget, \$.*0\.0 said 1/s);
  });

  test('limits all descendants of the agent together', async () => {
    const plan = leaf({ children: [leaf({ children: [leaf({ kind: 'fork', looks: 9 })] })] });
    const swarm = await follow(plan, { swarm: { definitions: capped } });
    expect(endings(swarm)).toEqual(['end_turn', 'budget after 1', 'budget after 1']);
  });

  test('is part of the whole budget, and the unused rest is returned', async () => {
    const plan = leaf({ children: [leaf({ looks: 0 })] });
    const definitions = [agentDefinition({ maxBudgetUsd: 50 * priceOf(100) })];
    const budget = 3.5 * priceOf(100);
    const swarm = await follow(plan, { maxBudgetUsd: budget, swarm: { definitions } });
    expect(endings(swarm)).toEqual(['end_turn', 'end_turn after 1']);
    expect(swarm.requests).toHaveLength(4);
  });

  test('is not reserved for queued agents', async () => {
    const plan = leaf({ children: Array.from({ length: 6 }, () => leaf({ looks: 0 })) });
    const definitions = [agentDefinition({ maxBudgetUsd: 3 * priceOf(100) })];
    const limits = { ...WIDE, maxConcurrentAgents: 1 };
    const budget = 10 * priceOf(100);
    const swarm = await follow(plan, { maxBudgetUsd: budget, swarm: { definitions, limits } });
    expect(endings(swarm)).toEqual(['end_turn', ...Array(6).fill('end_turn after 1')]);
  });

  test('of zero allows no request', async () => {
    const plan = leaf({ children: [leaf()] });
    const definitions = [agentDefinition({ maxBudgetUsd: 0 })];
    const swarm = await follow(plan, { swarm: { definitions } });
    expect(endings(swarm)).toEqual(['end_turn', 'budget after 0']);
  });

  test('is recorded with the agent, so that a later change of the file has no effect', async () => {
    const plan = leaf({ children: [leaf()] });
    const swarm = await follow(plan, { swarm: { definitions: capped } });
    const origins = [...(await histories(swarm)).values()].map(({ relations }) => relations.origin);
    expect(origins.map((origin) => origin?.maxBudgetUsd)).toEqual([undefined, cap]);
  });
});

describe('tokens of a definition', () => {
  const capped = [agentDefinition({ maxBudgetTokens: 4 * tokensOf(100) })];

  test('limit each of its agents with all descendants, and no others', async () => {
    const fork = leaf({ kind: 'fork', looks: 9 });
    const plan = leaf({
      looks: 4,
      children: [leaf({ looks: 4 }), leaf({ children: [fork] }), fork],
    });
    const swarm = await follow(plan, { swarm: { definitions: capped } });
    expect(endings(swarm)).toEqual([
      'end_turn',
      'budget after 3',
      'budget after 1',
      'budget after 2',
      'end_turn after 10',
    ]);
    expect(swarm.said('t0.0')).toMatch(
      /The agent's share of the budget, 800 tokens,.*0\.0 said 2/s,
    );
  });
});

/**
 * All agents have a recorded end, every call has a result, and each report has the agent's text.
 */
const expectNoLoss = async (swarm: PlannedSwarm): Promise<void> => {
  const known = await histories(swarm);
  expect(swarm.reports.map(({ agent }) => agent.id).toSorted()).toEqual(
    [...known.keys()].filter((id) => id !== swarm.lead.meta.lead).toSorted(),
  );
  for (const [id, { ended, calls, turns }] of known) {
    expect([id, ended?.final]).toEqual([id, true]);
    expect([...calls.values()].filter(({ result }) => result === null)).toEqual([]);
    const report = swarm.reports.find(({ agent }) => agent.id === id);
    if (report === undefined) continue;
    expect(report.turns).toBe(turns);
    expect(report.text).toMatch(turns === 0 ? /^$/ : new RegExp(` said ${turns - 1}$`));
    expect(report.stop.reason).toBe(ended?.reason);
  }
};
