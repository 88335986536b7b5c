/** How many agents may begin, work at once, ask at once, and how long each may take. */
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

describe('a lead that asks for more agents than it may have', () => {
  test('gets those that it may, and is told so for each of the others', async () => {
    const plan = leaf({ children: Array.from({ length: 5 }, () => leaf()) });
    const swarm = await follow(plan, limits({ maxAgents: 3 }));
    const said = [0, 1, 2, 3, 4].map((at) => swarm.said(`t0.${at}`));
    expect(said.map((text) => text.includes('This run has started 3 agents'))).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
    expect(swarm.reports.map(({ stop }) => stop.reason)).toEqual(Array(3).fill('end_turn'));
  });

  test('has agents as deep as it may, and the deepest is told to work alone', async () => {
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

  test('has them work in the order in which it asked, so many at once, and the wait is on record', async () => {
    const doors = Array.from({ length: 5 }, gate);
    const began: string[] = [];
    const harness = await swarmHarness(
      (conversation) => {
        const { path, turn } = partOf(conversation);
        if (path === '0') return turn > 0 ? [says('done')] : asks(5);
        began.push(path);
        return [waits(doors[Number(path.slice(2))]?.opened ?? Promise.resolve()), says('seen')];
      },
      limits({ maxConcurrentAgents: 2 }),
    );
    await harness.say('<<0>>');
    await allSettled();
    expect(began).toEqual(['0.0', '0.1']);
    doors[1]?.open();
    await allSettled();
    expect(began).toEqual(['0.0', '0.1', '0.2']);
    for (const door of doors) door.open();
    await harness.lead.stopped;
    expect(began).toEqual(['0.0', '0.1', '0.2', '0.3', '0.4']);
    const queued: boolean[] = [];
    for (const id of (await histories(harness)).keys()) {
      const { records } = await harness.store.readJournal(harness.lead.id, id);
      queued.push(records.some(({ type }) => type === 'agent.queued'));
    }
    expect(queued).toEqual([false, false, false, true, true, true]);
  });
});

const EXPLORER = { description: 'x', subagent_type: 'explorer' };
const BEHIND = { ...EXPLORER, run_in_background: true };

describe('with few places, an agent that waits for one in the background', () => {
  const behind = (children: readonly Plan[] = []) => leaf({ kind: 'background', children });

  test.each([
    ['a typed agent', leaf({ children: [behind()] })],
    ['one below another', leaf({ children: [leaf({ children: [behind()] })] })],
    ['one in the background itself', behind([behind([behind()])])],
    ['one that has several', leaf({ children: [behind(), leaf(), behind(), behind()] })],
  ])('leaves its place to it: %s', async (_, child) => {
    const swarm = await follow(leaf({ children: [child] }), limits({ maxConcurrentAgents: 1 }));
    expect(swarm.reports.map(({ stop }) => stop.reason)).not.toContain('interrupted');
    expect(swarm.reports.at(-1)?.agent.depth).toBe(1);
  });

  test('leaves it also when all places are taken by such as itself', async () => {
    const children = Array.from({ length: 20 }, () => leaf({ children: [behind()] }));
    const swarm = await follow(leaf({ children }), limits({ maxConcurrentAgents: 20 }));
    expect(swarm.reports.map(({ stop }) => stop.reason)).toEqual(Array(40).fill('end_turn'));
  });

  test.each([
    ['a typed agent', EXPLORER],
    ['one in the background', BEHIND],
  ])('leaves it also when a process died and the next takes both up: %s', async (_, terms) => {
    const doors = [new Promise<void>(() => {}), Promise.resolve()];
    const answer = (conversation: Conversation): Answer => {
      const { path, turn } = partOf(conversation);
      if (path === '0.0.0') return [waits(doors.shift() ?? Promise.resolve()), says('seen')];
      if (turn > 0) return [says('done')];
      return [calls(`t${path}`, 'Task', task(`<<${path}.0>>`, path === '0' ? terms : BEHIND))];
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

  test('leaves it also while it asks for the output of one that is queued', async () => {
    const harness = await swarmHarness(
      (conversation) => {
        const { path, turn } = partOf(conversation);
        if (path === '0') return turn > 0 ? [says('done')] : asks(1);
        if (path !== '0.0') return [says('seen')];
        const id = /a_\d+/.exec(conversation.last)?.[0];
        if (turn === 0) return [calls('b', 'Task', task('<<0.0.0>>', BEHIND))];
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

test('a request that waits for its place says so before it leaves, and the others say nothing', async () => {
  const clock = virtualClock();
  const doors = Array.from({ length: 3 }, gate);
  const harness = await swarmHarness(
    (conversation) => {
      const { path, turn } = partOf(conversation);
      if (path === '0') return turn > 0 ? [says('done')] : asks(3);
      return [waits(doors[Number(path.slice(2))]?.opened ?? Promise.resolve()), says('seen')];
    },
    { clock, governor: governor(clock, 1) },
  );
  await harness.say('<<0>>');
  await allSettled();
  const waitsOf = async () => {
    const waits: unknown[] = [];
    for (const id of (await histories(harness)).keys()) {
      const { records } = await harness.store.readJournal(harness.lead.id, id);
      const told = records.filter(({ type }) => /^request.queued|turn.started/.test(type));
      waits.push(told.map((record) => (record.type === 'request.queued' ? record.why : 'sent')));
    }
    return waits;
  };
  expect(await waitsOf()).toEqual([['sent'], ['sent'], ['requests'], ['requests']]);
  for (const door of doors) door.open();
  await harness.lead.stopped;
  expect(await waitsOf()).toEqual([
    ['sent', 'sent'],
    ['sent'],
    ['requests', 'sent'],
    ['requests', 'sent'],
  ]);
});

test('requests in flight are bounded over the whole tree', async () => {
  const clock = virtualClock();
  const child = leaf({
    looks: 2,
    children: [leaf({ looks: 2 }), leaf({ looks: 2, kind: 'fork' })],
  });
  const plan = leaf({
    children: [child, { ...child, kind: 'fork' }, { ...child, kind: 'background' }],
  });
  const swarm = await follow(plan, { clock, governor: governor(clock, 2) });
  expect(swarm.mostInFlight).toBe(2);
});

describe('an agent that', () => {
  const times = { wallMs: 10_000, idleMs: 2_000 };

  /** A lead that waits for one agent, which answers so, turn by turn, and has agents that look forever. */
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

  /** Until it is told to stop. */
  const never = ({ signal }: ToolContext) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const looks = (name: string) => (turn: number) => [
    says(`so far ${turn}`),
    calls(`l${turn}`, 'Look', { name }),
  ];

  test('does nothing for too long stops, and its parent has what it said', async () => {
    const { pass, report, lead } = await watched(looks('forever'), { effects: { forever: never } });
    await pass(1_800);
    expect(report()).toBeUndefined();
    await pass(400);
    expect(report()).toMatch(/failed.*"reason":"time_limit".*did nothing for 2 seconds.*so far 0/s);
    expect((await lead.stopped).stop.reason).toBe('end_turn');
  });

  test('works for too long stops, however busy it is', async () => {
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

  test('waits for a person is not idle', async () => {
    const surface = scriptedSurface('silence');
    const change = () => [calls('w', 'Change', { name: 'it' })];
    const { pass, report } = await watched(change, { mode: 'default', surface });
    await pass(9_000);
    expect([surface.questions.length, report()]).toEqual([1, undefined]);
  });

  test('waits for an agent of its own is not idle, but that one is', async () => {
    const open = (turn: number) => (turn > 0 ? [says('read')] : asks(1, '0.0'));
    const { pass, report } = await watched(open, { effects: { forever: never } });
    await pass(1_800);
    expect(report()).toBeUndefined();
    await pass(400);
    expect(report()).toMatch(/completed: 2 turns.*read/s);
  });
});
