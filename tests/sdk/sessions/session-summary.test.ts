import { describe, expect, test } from 'vitest';
import { summarizeSession } from '../../../src/sdk/sessions/session-summary.js';
import type { SwarmReader } from '../../../src/views/swarm/cached-jobs.js';
import { eventsOf, type Fact, factsOf, reportOf, SESSION } from '../../views/swarm-facts.js';

const { begun, started, ended, taken, over } = factsOf();

/** A store with one session that is not running. */
const summaryOf = (facts: readonly Fact[]) => {
  const store: SwarmReader = {
    holder: async () => undefined,
    jobs: { local: undefined, list: async () => [], workers: async () => [] },
    async *events() {
      yield* eventsOf(facts);
    },
  };
  return summarizeSession(store, SESSION);
};

describe('a session in a listing', () => {
  const turns = (from: number, count: number): readonly Fact[] =>
    Array.from({ length: count }, (_, at) => [
      started(from + at * 10),
      ended(from + at * 10 + 5, 'end_turn'),
    ]).flat();

  test('counts the turns of all its agents', async () => {
    const facts = [...begun(0), ...turns(10, 3), started(50, 'a_2'), ended(60, 'end_turn', 'a_2')];
    expect(await summaryOf([...facts, over(90)])).toMatchObject({ turns: 4, state: 'ended' });
  });

  test('that was forked counts only its own turns, as its report and its cost do', async () => {
    const copied = { ...begun(0)[0], forkedFrom: { session: 's_0' } } as Fact;
    const inherited = [copied, ...begun(0).slice(1), ...turns(10, 4), over(90)];
    const facts = [
      ...inherited,
      taken(1_000),
      ...turns(1_010, 1),
      taken(2_000),
      ...turns(2_010, 1),
    ];
    const { turns: shown, costUsd } = await summaryOf(facts);
    expect(shown).toBe(2);
    expect(shown).toBe(reportOf(facts).turns);
    expect(costUsd).toBe(reportOf(facts).cost.total.costUsd);
  });
});
