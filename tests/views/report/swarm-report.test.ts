import { describe, expect, test } from 'vitest';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { SessionCostFold } from '../../../src/views/cost/session-cost.js';
import { redactedReport } from '../../../src/views/report/redacted-report.js';
import { type Fact, factsOf, reportOf, swarmOf } from '../swarm-facts.js';

/** States of an agent in order, each with its milliseconds. */
const statesOf = (
  facts: readonly Fact[],
  agent = 'a_1',
  more: Parameters<typeof reportOf>[1] = {},
) =>
  reportOf(facts, more)
    .agents.find(({ id }) => id === agent)
    ?.spans.map(({ state, from, to }) => `${state} ${to - from}`);

const { begun, started, ended, asked, ruled, tool, requested, spawned, taken, over } = factsOf();

describe('the time of an agent', () => {
  test('is divided into the states of its events', () => {
    const facts = [
      ...begun(0),
      started(10),
      ended(110, 'tool_use'),
      asked(120, 'c1'),
      ruled(320, 'c1', 'allow'),
      tool('tool.started', 330, 'c1'),
      tool('tool.ended', 430, 'c1'),
      started(440),
      ended(500, 'end_turn'),
      over(510),
    ];
    expect(statesOf(facts)).toEqual([
      'streaming 110',
      'tool-running 10',
      'awaiting-permission 200',
      'tool-running 110',
      'streaming 70',
      'idle 10',
    ]);
    expect(reportOf(facts).agents[0]?.times).toEqual({
      streaming: 180,
      'tool-running': 120,
      'awaiting-permission': 200,
      idle: 10,
    });
  });

  test('of a child starts in the queue and ends when the child stops', () => {
    const facts = [
      ...begun(0),
      requested(10, 'a_2'),
      spawned(60, 'a_2'),
      started(70, 'a_2'),
      ended(100, 'end_turn', 'a_2'),
      over(105, 'a_2'),
      over(900),
    ];
    expect(statesOf(facts, 'a_2')).toEqual(['queued 60', 'streaming 30', 'idle 5']);
  });

  test('is lost from the last event of a dead process until another process resumes the agent', () => {
    const facts = [
      ...begun(0),
      spawned(10, 'a_2'),
      started(20, 'a_2'),
      started(30),
      ended(100, 'tool_use'),
      taken(5_100),
      started(5_200),
      taken(5_300, 'a_2'),
      started(5_400, 'a_2'),
    ];
    const still = { isHeld: true, now: 6_000 };
    expect(statesOf(facts, 'a_1', still)).toEqual([
      'streaming 100',
      'lost 5000',
      'tool-running 100',
      'streaming 800',
    ]);
    expect(statesOf(facts, 'a_2', still)).toEqual([
      'idle 10',
      'streaming 80',
      'lost 5200',
      'streaming 700',
    ]);
    // An agent that no process has resumed is lost until now.
    const left = facts.slice(0, -2);
    expect(statesOf(left, 'a_2', still)?.at(-1)).toBe('lost 5900');
  });

  test('is lost from the last event of the agent when its worker died, while the lead still works', () => {
    const facts = [
      ...begun(0),
      spawned(10, 'a_2'),
      started(20, 'a_2'),
      ended(30, 'tool_use', 'a_2'),
      started(50),
      ended(5_000, 'tool_use'),
    ];
    const job = { id: 'a_2', swarm: 's_1', addedAt: 10 };
    const still = { isHeld: true, now: 6_000 };
    const gone = { ...still, jobs: [{ ...job, worker: undefined }] };
    expect(statesOf(facts, 'a_2', gone)).toEqual(['idle 10', 'streaming 10', 'lost 5970']);
    expect(reportOf(facts, gone).agents[1]?.times).toMatchObject({ lost: 5_970 });
    const there = { ...still, jobs: [{ ...job, worker: 'w_1' }] };
    expect(statesOf(facts, 'a_2', there)?.at(-1)).toBe('tool-running 5970');
    // The same after another process has taken over the lead.
    expect(statesOf([...facts, taken(5_500)], 'a_2', gone)?.at(-1)).toBe('lost 5970');
  });

  test('never decreases when the clocks of two machines differ', () => {
    const facts = [...begun(1_000), started(2_000), ended(1_500, 'tool_use'), started(2_100)];
    const spans = reportOf([...facts, over(2_200)]).agents[0]?.spans ?? [];
    expect(spans.every(({ from, to }) => from < to)).toBe(true);
    expect(spans.slice(1).map(({ from }) => from)).toEqual(spans.slice(0, -1).map(({ to }) => to));
  });

  test('lasts until now while a process runs the session, else until the last event', () => {
    const facts = [...begun(0), started(100)];
    expect(reportOf(facts, { isHeld: true, now: 900 })).toMatchObject({ isRunning: true, to: 900 });
    expect(reportOf(facts, { now: 900 })).toMatchObject({ isRunning: false, to: 100 });
    expect(statesOf(facts, 'a_1', { isHeld: true, now: 900 })).toEqual(['streaming 900']);
  });

  test('omits long pauses in which no agent worked', () => {
    const day = 86_400_000;
    const facts = [
      ...begun(0),
      started(10),
      ended(5_000, 'end_turn'),
      over(5_010, 'a_1', 'run.ended'),
    ];
    const again = [
      taken(day),
      started(day + 10),
      ended(day + 4_000, 'end_turn'),
      over(day + 4_010),
    ];
    const report = reportOf([...facts, ...again]);
    expect(report.pauses).toEqual([{ from: 5_000, to: day + 10 }]);
    expect(report.activeMs).toBe(9_000);
  });
});

describe('the curves of a session', () => {
  test('end with the totals of the session cost', () => {
    const facts = swarmOf(12);
    const costs = new SessionCostFold();
    for (const event of facts) costs.take(event as SwarmEvent);
    const { total } = costs.report();
    const { spending, cost, turns } = reportOf(facts);
    expect(cost.total).toEqual(total);
    expect(spending.at(-1)).toMatchObject({
      costUsd: expect.closeTo(total.costUsd ?? 0, 9),
      outputTokens: total.outputTokens,
      uncachedCostUsd: expect.closeTo(total.uncachedCostUsd ?? 0, 9),
      cacheReadTokens: total.cacheReadTokens,
      cacheWriteTokens: total.cacheWriteTokens,
    });
    expect(turns).toBe(total.requests);
    for (const key of ['costUsd', 'cacheReadTokens', 'at'] as const) {
      const values = spending.map((point) => point[key]);
      expect(values).toEqual(values.toSorted((a, b) => a - b));
    }
  });

  test('omit the cost and the time of the session that was copied', () => {
    const copied = { ...begun(0)[0], forkedFrom: { session: 's_0' } } as Fact;
    const facts = [copied, started(10), ended(500, 'end_turn'), asked(510, 'c')];
    const own = [taken(90_000), started(90_010), ended(90_500, 'end_turn'), over(90_600)];
    const report = reportOf([...facts, ...own]);
    expect(report).toMatchObject({ continues: 's_0', from: 90_000, to: 90_600 });
    expect(report.spending.at(-1)?.costUsd).toBe(report.cost.total.costUsd);
    expect(report.permissions.questions).toBe(0);
  });
});

test('a large swarm has a limited report with exact times, all agents and the omitted counts', () => {
  const report = reportOf(swarmOf(250, 40));
  const shown = report.agents.reduce((sum, { spans }) => sum + spans.length, 0);
  expect(report.agents).toHaveLength(250);
  expect([shown <= 20_000, report.spending.length <= 401]).toEqual([true, true]);
  expect([shown > 15_000, report.thinned.spans > 500]).toEqual([true, true]);
  expect(report.thinned.points).toBeGreaterThan(1_000);
  for (const { times, spans } of report.agents) {
    const exact = Object.values(times).reduce((sum, ms) => sum + ms, 0);
    expect(exact).toBeGreaterThan(0);
    expect(spans.reduce((sum, { from, to }) => sum + (to - from), 0)).toBe(exact);
  }
});

test('the report contains no secrets, even where values are cut', () => {
  const secret = 'sk-ant-api03-abcdefgh12345678';
  const facts = [
    ...begun(0),
    { ...spawned(1, 'a_2'), origin: { kind: 'sync', name: secret, description: `x ${secret}` } },
    { ...asked(2, 'c'), description: `${'y'.repeat(1_990)} ${secret}`, reason: 'hush of mine' },
  ] as const;
  const report = redactedReport(reportOf(facts), (text) =>
    text.replaceAll(/sk-ant-\S+/g, '[redacted]').replaceAll('hush', '[redacted]'),
  );
  expect(JSON.stringify(report)).not.toContain('sk-ant');
  expect(JSON.stringify(report)).not.toContain('hush');
  expect(report.agents[1]).toMatchObject({ name: '[redacted]', description: 'x [redacted]' });
});
