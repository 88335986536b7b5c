/** Law 10 across processes: the budget of a lead limits its agents on all workers together. */
import { expect, test } from 'vitest';
import { bash, begins, helper, LEAD } from '../../fakes/agents/worker-lead.js';
import { workerScene } from '../../fakes/agents/worker-scene.js';
import type { Line, Rules } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const AGENTS = 6;
const WORKERS = 2;

/** Agents that never stop, with a price for each answer. */
const spenders: Rules = [
  ...begins(Array.from({ length: AGENTS }, (_, at) => helper(`Spend ${at}`))),
  {
    match: { firstUser: 'Spend' },
    reply: { text: 'More.', usage: { output_tokens: 1_000 }, tool_use: bash('echo {{turn}}') },
  },
];

const stopReasons = (journals: readonly (readonly Line[])[]) =>
  journals.flatMap((records) =>
    records.flatMap(({ type, final, reason }) => (type === 'run.ended' && final ? [reason] : [])),
  );

needs.describe('redis')('law 10 on workers', () => {
  test('agents on two workers share one budget, exceeded by at most one answer per request in flight', async () => {
    const scene = await workerScene(spenders);
    for (let at = 0; at < WORKERS; at += 1) await scene.worker(['--concurrency', '3']);
    const budget = 0.6;
    const { code } = await scene.run([
      ...LEAD,
      '--max-turns',
      '500',
      '--max-budget-usd',
      String(budget),
    ]);
    expect(code).toBe(3);
    const journals = await scene.journals('one');
    expect(stopReasons(journals).filter((reason) => reason === 'budget').length).toBeGreaterThan(0);
    const { cost = 0 } = scene.simulator.totals;
    // An answer of 1,000 tokens costs some cents. Each request in flight may add one answer.
    const answers = journals.flatMap((records) =>
      records.flatMap(({ type, cost: price }) => (type === 'assistant.received' ? [price] : [])),
    ) as number[];
    const largest = Math.max(...answers);
    expect(cost).toBeLessThan(budget + (AGENTS + 1) * largest);
    expect(cost).toBeGreaterThan(budget / 2);
  });
});
