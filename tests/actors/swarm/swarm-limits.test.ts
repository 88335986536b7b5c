/** Limits of a swarm: agents per run, depth, slots, requests in flight and time-outs. */
import { describe, expect, test } from 'vitest';
import { governor } from '../../../src/model/governor.js';
import type { SwarmLimits } from '../../../src/protocol/agent/swarm-limits.js';
import type { ToolContext, ToolOutcome } from '../../../src/protocol/tools/tool.js';
import { type Answer, calls, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import { scriptedSurface } from '../../fakes/agents/scripted-surface.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import type { LeadOptions } from '../session/lead-harness.js';
import { follow, histories, type Plan, partOf } from './planned-swarm.js';
import { allSettled, type Conversation, swarmHarness, task } from './swarm-harness.js';

const limits = (change: Partial<SwarmLimits>): Partial<LeadOptions> => ({
  swarm: { limits: { maxAgents: 1_000, maxConcurrentAgents: 1_000, maxDepth: 5, ...change } },
});

const leaf = (change: Partial<Plan> = {}): Plan => ({
  kind: 'sync',
  looks: 0,
  output: 10,
  children: [],
  ...change,
});

describe('a lead that spawns more agents than the limits allow', () => {
  test('gets agents up to the limit, and an error for each other call', async () => {
    const plan = leaf({ children: Array.from({ length: 5 }, () => leaf()) });
    const swarm = await follow(plan, limits({ maxAgents: 3 }));
    const results = [0, 1, 2, 3, 4].map((at) => swarm.said(`t0.${at}`));
    expect(results.map((text) => text.includes('This run has started 3 agents'))).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
    expect(swarm.reports.map(({ stop }) => stop.reason)).toEqual(Array(3).fill('end_turn'));
  });

  test('gets agents up to the maximum depth, and the deepest agent gets an error', async () => {
    const plan = leaf({
      children: [leaf({ kind: 'fork', children: [leaf({ children: [leaf()] })] })],
    });
    const swarm = await follow(plan, limits({ maxDepth: 2 }));
    expect(swarm.reports.map(({ agent }) => agent.depth)).toEqual([2, 1]);
    const refusals = swarm.items.filter(
      (it) =>
        it.type === 'agent.feed' &&
        it.item.type === 'tool.ended' &&
        it.item.raw.includes('nested 2 deep'),
    );
    expect(refusals).toMatchObject([{ agent: { depth: 2 } }]);
  });

  test('has its agents run in order within the slots, and the queueing is journaled', async () => {
    const gates = Array.from({ length: 5 }, gate);
    const started: string[] = [];
    const harness = await swarmHarness(
      (conversation) => {
        const { path, turn } = partOf(conversation);
        if (path === '0') return turn > 0 ? [says('done')] : asks(5);
        started.push(path);
        return [waits(gates[Number(path.slice(2))]?.opened ?? Promise.resolve()), says('seen')];
      },
      limits({ maxConcurrentAgents: 2 }),
    );
    await harness.say('<<0>>');
    await allSettled();
    expect(started).toEqual(['0.0', '0.1']);
    gates[1]?.open();
    await allSettled();
    expect(started).toEqual(['0.0', '0.1', '0.2']);
    for (const release of gates) release.open();
    await harness.lead.stopped;
    expect(started).toEqual(['0.0', '0.1', '0.2', '0.3', '0.4']);
    const queued: boolean[] = [];
    for (const id of (await histories(harness)).keys()) {
      const { records } = await harness.store.readJournal(harness.lead.id, id);
      queued.push(records.some(({ type }) => type === 'agent.queued'));
    }
    expect(queued).toEqual([false, false, false, true, true, true]);
  });
});

const EXPLORER = { description: 'x', subagent_type: 'explorer' };
const BACKGROUND = { ...EXPLORER, run_in_background: true };

describe('with few slots, an agent that waits for a background child', () => {
  const background = (children: readonly Plan[] = []) => leaf({ kind: 'background', children });

  test.each([
    ['a typed agent', leaf({ children: [background()] })],
    ['a child of a typed agent', leaf({ children: [leaf({ children: [background()] })] })],
    ['a background agent', background([background([background()])])],
    [
      'an agent with several children',
      leaf({ children: [background(), leaf(), background(), background()] }),
    ],
  ])('lends its slot to the child: %s', async (_, child) => {
    const swarm = await follow(leaf({ children: [child] }), limits({ maxConcurrentAgents: 1 }));
    expect(swarm.reports.map(({ stop }) => stop.reason)).not.toContain('interrupted');
    expect(swarm.reports.at(-1)?.agent.depth).toBe(1);
  });

  test('lends its slot if all slots belong to such agents', async () => {
    const children = Array.from({ length: 20 }, () => leaf({ children: [background()] }));
    const swarm = await follow(leaf({ children }), limits({ maxConcurrentAgents: 20 }));
    expect(swarm.reports.map(({ stop }) => stop.reason)).toEqual(Array(40).fill('end_turn'));
  });

  test.each([
    ['a typed agent', EXPLORER],
    ['an agent in the background', BACKGROUND],
  ])('lends its slot after both are resumed in the next process: %s', async (_, input) => {
    const gates = [new Promise<void>(() => {}), Promise.resolve()];
    const answer = (conversation: Conversation): Answer => {
      const { path, turn } = partOf(conversation);
      if (path === '0.0.0') return [waits(gates.shift() ?? Promise.resolve()), says('seen')];
      if (turn > 0) return [says('done')];
      return [calls(`t${path}`, 'Task', task(`<<${path}.0>>`, path === '0' ? input : BACKGROUND))];
    };
    const first = await swarmHarness(answer, limits({ maxConcurrentAgents: 1 }));
    await first.say('<<0>>');
    await allSettled();
    await first.lead.close();
    const { store, clock } = first;
    const choice = { kind: 'resume', id: first.lead.id } as const;
    const next = await swarmHarness(answer, {
      store,
      clock,
      choice,
      ...limits({ maxConcurrentAgents: 1 }),
    });
    next.lead.start();
    await allSettled();
    const ended = next.items.flatMap((it) => (it.type === 'agent.ended' ? [it.report] : []));
    expect(ended.map(({ stop }) => stop.reason)).toEqual(['end_turn', 'end_turn']);
    expect(next.lead.state).toBe('stopped');
  });

  test('lends its slot while TaskOutput waits for a queued child', async () => {
    const harness = await swarmHarness(
      (conversation) => {
        const { path, turn } = partOf(conversation);
        if (path === '0') return turn > 0 ? [says('done')] : asks(1);
        if (path !== '0.0') return [says('seen')];
        const id = /a_\d+/.exec(conversation.last)?.[0];
        if (turn === 0) return [calls('b', 'Task', task('<<0.0.0>>', BACKGROUND))];
        return turn > 1 ? [says('read')] : [calls('o', 'TaskOutput', { task_id: id })];
      },
      limits({ maxConcurrentAgents: 1 }),
    );
    await harness.say('<<0>>');
    await harness.lead.stopped;
    expect(harness.results()['t0.0']).toContain('read');
  });
});

const asks = (count: number, path = '0'): Answer =>
  Array.from({ length: count }, (_, at) =>
    calls(
      `t${path}.${at}`,
      'Task',
      task(`<<${path}.${at}>>`, { description: 'x', subagent_type: 'explorer' }),
    ),
  );

test('only a request that waits for a request slot is journaled as queued before it is sent', async () => {
  const clock = virtualClock();
  const gates = Array.from({ length: 3 }, gate);
  const harness = await swarmHarness(
    (conversation) => {
      const { path, turn } = partOf(conversation);
      if (path === '0') return turn > 0 ? [says('done')] : asks(3);
      return [waits(gates[Number(path.slice(2))]?.opened ?? Promise.resolve()), says('seen')];
    },
    { clock, governor: governor(clock, 1) },
  );
  await harness.say('<<0>>');
  await allSettled();
  const waitsOf = async () => {
    const waits: unknown[] = [];
    for (const id of (await histories(harness)).keys()) {
      const { records } = await harness.store.readJournal(harness.lead.id, id);
      const requests = records.filter(({ type }) => /^request.queued|turn.started/.test(type));
      waits.push(
        requests.map((record) => (record.type === 'request.queued' ? record.why : 'sent')),
      );
    }
    return waits;
  };
  expect(await waitsOf()).toEqual([['sent'], ['sent'], ['requests'], ['requests']]);
  for (const release of gates) release.open();
  await harness.lead.stopped;
  expect(await waitsOf()).toEqual([
    ['sent', 'sent'],
    ['sent'],
    ['requests', 'sent'],
    ['requests', 'sent'],
  ]);
});

test('requests in flight are limited over the whole tree', async () => {
  const clock = virtualClock();
  const child = leaf({
    looks: 2,
    children: [leaf({ looks: 2 }), leaf({ looks: 2, kind: 'fork' })],
  });
  const plan = leaf({
    children: [child, { ...child, kind: 'fork' }, { ...child, kind: 'background' }],
  });
  const swarm = await follow(plan, { clock, governor: governor(clock, 2) });
  expect(swarm.maxInFlight).toBe(2);
});

describe('an agent that', () => {
  const times = { wallMs: 10_000, idleMs: 2_000 };

  /** Lead that waits for an agent with these answers by turn. Children of the agent wait forever. */
  const watched = async (
    answer: (turn: number) => Answer,
    options: Partial<Omit<LeadOptions, 'model'>> = {},
  ) => {
    const harness = await swarmHarness(
      (conversation) => {
        const { path, turn } = partOf(conversation);
        if (path === '0') return turn > 0 ? [says('done')] : asks(1);
        return path === '0.0' ? answer(turn) : [calls('inner', 'Look', { name: 'forever' })];
      },
      { swarm: { times }, ...options },
    );
    await harness.say('<<0>>');
    await allSettled();
    const pass = async (ms: number) => {
      await harness.clock.advance(ms);
      await allSettled();
    };
    return { ...harness, pass, report: () => harness.results()['t0.0'] };
  };

  /** Rejects on abort. */
  const never = ({ signal }: ToolContext) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const looks = (name: string) => (turn: number) => [
    says(`so far ${turn}`),
    calls(`l${turn}`, 'Look', { name }),
  ];

  test('is inactive beyond the idle time-out stops, and its parent gets its last text', async () => {
    const { pass, report, lead } = await watched(looks('forever'), { effects: { forever: never } });
    await pass(1_800);
    expect(report()).toBeUndefined();
    await pass(400);
    expect(report()).toMatch(
      /failed.*"reason":"time_limit".*was inactive for 2 seconds.*so far 0/s,
    );
    expect((await lead.stopped).stop.reason).toBe('end_turn');
  });

  test('runs beyond the wall time-out stops, even if it is active', async () => {
    const clock = virtualClock();
    const slow = () =>
      new Promise<ToolOutcome>((resolve) => {
        clock.wakeAt(clock.now() + 1_000, () => resolve({ content: `seen at ${clock.now()}` }));
      });
    const { pass, report } = await watched(looks('slow'), { clock, effects: { slow } });
    await pass(9_800);
    expect(report()).toBeUndefined();
    await pass(400);
    expect(report()).toMatch(
      /"reason":"time_limit".*worked for 10 seconds.*agentWallTimeoutMs.*so far 9/s,
    );
  });

  test('waits for a person does not time out as inactive', async () => {
    const surface = scriptedSurface('silence');
    const change = () => [calls('w', 'Change', { name: 'it' })];
    const { pass, report } = await watched(change, { mode: 'default', surface });
    await pass(9_000);
    expect([surface.questions.length, report()]).toEqual([1, undefined]);
  });

  test('waits for its child does not time out as inactive, but the child does', async () => {
    const open = (turn: number) => (turn > 0 ? [says('read')] : asks(1, '0.0'));
    const { pass, report } = await watched(open, { effects: { forever: never } });
    await pass(1_800);
    expect(report()).toBeUndefined();
    await pass(400);
    expect(report()).toMatch(/completed: 2 turns.*read/s);
  });
});
