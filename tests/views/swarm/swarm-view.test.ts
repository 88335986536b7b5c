import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ListedJob } from '../../../src/protocol/session/job-queue.js';
import type { SessionMeta } from '../../../src/protocol/session/session-store.js';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { SwarmFold } from '../../../src/views/swarm/swarm-fold.js';
import { findAgent, type SwarmView } from '../../../src/views/swarm/swarm-view.js';

type Fact = Partial<SwarmEvent> & Pick<SwarmEvent, 'type'>;

const MODEL = 'claude-sonnet-4-5';
const usage = { input: 10, output: 5, cacheRead: 80, cacheWrite5m: 10, cacheWrite1h: 0 };

/** Agents after some facts. A fact without an agent belongs to the lead, `a_1`. */
const agentsAfter = (facts: readonly Fact[], isLive = true, jobs: readonly ListedJob[] = []) => {
  const fold = new SwarmFold('a_1');
  for (const [index, fact] of facts.entries()) {
    const head = { v: 1, seq: index + 1, ts: index, swarm: 's_1', agent: 'a_1' } as const;
    fold.take({ ...head, parent: null, cites: { seq: index + 1 }, ...fact });
  }
  return fold.agents(isLive, jobs);
};
const lead = (...facts: readonly Fact[]) => agentsAfter([...BEGUN, ...facts])[0];

const BEGUN: readonly Fact[] = [
  { type: 'agent.spawned', model: MODEL, cwd: '/w' },
  { type: 'epoch.began', epoch: 1 },
];
const started: Fact = { type: 'turn.started', turn: 1, attempt: 1, model: MODEL };
const ended = (stopReason: string): Fact => ({
  type: 'turn.ended',
  turn: 1,
  attempt: 1,
  model: MODEL,
  stopReason,
  usage,
  cost: 0.5,
});
const resumed: readonly Fact[] = [
  { type: 'epoch.began', epoch: 2 },
  { type: 'run.started', run: 1 },
];
const tool = (type: 'tool.started' | 'tool.ended', call: string): Fact => ({
  type,
  call,
  tool: 'Bash',
  description: `Bash ${call}`,
});
const asked = (call: string): Fact => ({
  type: 'permission.requested',
  call,
  tool: 'Bash',
  question: `q_${call}`,
  description: 'x',
});
const ruled = (call: string, behavior: string): Fact => ({
  type: 'permission.ruled',
  call,
  tool: 'Bash',
  behavior,
});
const queued = (why: string, call: string | null = null): Fact => ({
  type: 'request.queued',
  purpose: 'turn',
  call,
  why,
});
const consulted: Fact = { type: 'consultation.ended', purpose: 'summary', call: null };
const consultingFor = (call: string | null): Fact => ({
  type: 'consultation.started',
  purpose: call === null ? 'summary' : 'page',
  call,
});
const consulting = consultingFor(null);
const summaryQueued: Fact = { ...queued('requests'), purpose: 'summary' };
const IDLE: Fact = { type: 'run.ended', reason: 'end_turn' };
const child = (id: string, origin: object, ...facts: readonly Fact[]): readonly Fact[] =>
  [{ type: 'agent.spawned', model: MODEL, origin } as Fact, ...facts].map((fact) => ({
    ...fact,
    agent: id,
    parent: 'a_1',
  }));
const EXPLORER = { kind: 'sync', type: 'explorer', description: 'look', call: 'c', depth: 1 };

describe('an agent of a swarm', () => {
  test.each<[string, readonly Fact[]]>([
    ['idle', []],
    ['streaming', [{ type: 'run.started', run: 1 }]],
    ['streaming', [started, asked('1'), tool('tool.started', '2')]],
    ['retrying', [started, { type: 'turn.failed', kind: 'overloaded' }]],
    ['retrying', [started, tool('tool.started', '1'), { type: 'agent.restarted', attempt: 1 }]],
    ['tool-running', [started, ended('tool_use')]],
    ['tool-running', [started, ended('tool_use'), asked('1'), tool('tool.started', '2')]],
    ['awaiting-permission', [started, ended('tool_use'), ruled('1', 'ask'), asked('1')]],
    ['tool-running', [started, ended('tool_use'), asked('1'), ruled('1', 'allow')]],
    ['streaming', [started, ended('tool_use'), tool('tool.started', '1'), tool('tool.ended', '1')]],
    ['idle', [started, ended('end_turn')]],
    ['tool-running', [started, ended('end_turn'), tool('tool.started', '1')]],
    ['streaming', [started, ended('end_turn'), started]],
    ['streaming', [started, ended('pause_turn')]],
    ['idle', [started, ended('end_turn'), { type: 'run.ended', reason: 'end_turn' }]],
    ['stopped', [started, ended('end_turn'), { type: 'agent.stopped', reason: 'end_turn' }]],
    ['awaiting-permission', [started, ended('tool_use'), asked('1'), ...resumed, asked('1')]],
    ['idle', [started, ended('end_turn'), ...resumed]],
    ['waiting', [{ type: 'run.started', run: 1 }, queued('requests')]],
    ['waiting', [started, { type: 'turn.failed', kind: 'rate-limited' }, queued('rate-limit')]],
    ['streaming', [queued('warming'), queued('budget'), started]],
    [
      'tool-running',
      [started, ended('tool_use'), tool('tool.started', '1'), queued('budget', '1')],
    ],
    ['streaming', [started, ended('pause_turn'), queued('budget'), consulted]],
    ['compacting', [started, ended('pause_turn'), consulting]],
    ['compacting', [started, ended('end_turn'), IDLE, summaryQueued, consulting]],
    ['waiting', [started, ended('end_turn'), IDLE, summaryQueued]],
    ['idle', [started, ended('end_turn'), IDLE, summaryQueued, consulted]],
    ['idle', [started, ended('end_turn'), IDLE, summaryQueued, consulting, consulted]],
    ['retrying', [started, { type: 'turn.failed' }, consulting, consulted]],
    ['streaming', [started, { type: 'turn.failed' }, consulting, consulted, started]],
    ['tool-running', [started, ended('tool_use'), tool('tool.started', '1'), consultingFor('1')]],
    ['streaming', [started, ended('end_turn'), ...resumed, { type: 'message.sent', parts: 1 }]],
  ])('is %s after its events', (state, facts) => {
    expect(lead(...facts)?.state).toBe(state);
  });

  test('has the sums of its turns, and no cost if a price is unknown', () => {
    expect(lead(started, ended('tool_use'), started, ended('end_turn'))).toMatchObject({
      turns: 2,
      inputTokens: 200,
      outputTokens: 10,
      costUsd: 1,
      cacheReadPercent: 80,
    });
    expect(lead(started, { ...ended('end_turn'), cost: null })).toMatchObject({ costUsd: null });
    expect(lead()).toMatchObject({ costUsd: 0, cacheReadPercent: null });
  });

  test('of a copied session does not include the cost of the original session', () => {
    const copy: Fact = { type: 'agent.spawned', model: MODEL, forkedFrom: { session: 's_0' } };
    const again: Fact = { type: 'epoch.began', epoch: 2 };
    const [view] = agentsAfter([
      copy,
      started,
      ended('end_turn'),
      again,
      started,
      ended('end_turn'),
    ]);
    expect(view).toMatchObject({ turns: 1, costUsd: 0.5 });
  });

  test('shows the reason for which its request waits, until the request is sent', () => {
    const begun: Fact = { type: 'run.started', run: 1 };
    expect(lead(begun, queued('warming'), queued('budget'))).toMatchObject({
      status: 'running',
      state: 'waiting',
      waitsFor: 'budget',
    });
    expect(lead(begun, queued('budget'), started)?.waitsFor).toBeNull();
    expect(lead(begun, queued('something new'))).toMatchObject({
      state: 'waiting',
      waitsFor: null,
    });
    const stopped: Fact = { type: 'agent.stopped', reason: 'stopped' };
    expect(lead(begun, queued('requests'), stopped)).toMatchObject({
      state: 'stopped',
      waitsFor: null,
    });
  });

  test('shows its calls and questions until it has ended', () => {
    const busy = [started, ended('tool_use'), tool('tool.started', '1'), asked('2')];
    expect(lead(...busy)).toMatchObject({ calls: [{ call: '1' }], questions: [{ call: '2' }] });
    expect(lead(...busy, { type: 'agent.stopped', reason: 'stopped' })).toMatchObject({
      calls: [],
      questions: [],
      status: 'stopped',
      stop: { reason: 'stopped' },
    });
  });
});

describe('a compaction of an idle agent', () => {
  const resting = [started, ended('end_turn'), IDLE, consulting];

  test('is no run: the agent keeps its last stop reason, and is not lost with its process', () => {
    expect(lead(...resting)).toMatchObject({
      state: 'compacting',
      status: 'running',
      stop: { reason: 'end_turn' },
    });
    expect(agentsAfter([...BEGUN, ...resting], false)[0]).toMatchObject({ status: 'ended' });
  });
});

describe('the context size of an agent', () => {
  const tokens = (...facts: readonly Fact[]) => lead(...facts)?.contextTokens;
  const asked = { ...started, estimatedTokens: 90 };
  const compacted: Fact = { type: 'context.compacted', tokensAfter: 30 };

  test('is the estimate of the request, then the count of the answer, then the size after compaction', () => {
    expect(tokens()).toBeNull();
    expect(tokens(asked)).toBe(90);
    expect(tokens(asked, ended('end_turn'))).toBe(105);
    expect(tokens(asked, ended('end_turn'), { ...consulted, usage, model: MODEL })).toBe(105);
    expect(tokens(asked, { ...ended('interrupted'), usage: {} })).toBe(90);
    expect(tokens(asked, ended('end_turn'), compacted)).toBe(30);
    expect(tokens(asked, { type: 'prompt.broken', reason: 'clear' })).toBeNull();
    expect(tokens({ ...started, estimatedTokens: 'many' })).toBeNull();
  });
});

describe('the status of an agent', () => {
  const working = [...BEGUN, started];

  test('is running while its session has an owner, else lost', () => {
    expect(agentsAfter(working)).toMatchObject([{ status: 'running', state: 'streaming' }]);
    expect(agentsAfter(working, false)).toMatchObject([{ status: 'lost', state: 'lost' }]);
    expect(agentsAfter(BEGUN, false)).toMatchObject([{ status: 'ended', state: 'stopped' }]);
    const waiting = [...working, ended('end_turn')];
    expect(agentsAfter(waiting)).toMatchObject([{ status: 'running', state: 'idle' }]);
    expect(agentsAfter(waiting, false)).toMatchObject([{ status: 'lost', state: 'lost' }]);
  });

  test('of a child is lost if a new owner has resumed the session but not the child', () => {
    const running = child('a_2', EXPLORER, { ...started });
    const again: Fact = { type: 'epoch.began', epoch: 2 };
    expect(agentsAfter([...working, ...running])[1]).toMatchObject({ status: 'running' });
    expect(agentsAfter([...working, ...running, again])[1]).toMatchObject({ status: 'lost' });
    const taken = child('a_2', EXPLORER, started).slice(1);
    expect(agentsAfter([...working, ...running, again, ...taken])[1]).toMatchObject({
      status: 'running',
    });
  });

  test('of a requested child without a record is queued', () => {
    const request = {
      child: 'a_2',
      kind: 'background',
      agentType: 'tester',
      description: 'test it',
    };
    expect(agentsAfter([...working, { type: 'agent.requested', ...request }])[1]).toMatchObject({
      id: 'a_2',
      kind: 'background',
      type: 'tester',
      parent: 'a_1',
      depth: 1,
      status: 'queued',
      state: 'queued',
    });
  });

  test('is listed once per agent, after its parent, for any sequence of events', () => {
    const ids = ['a_1', 'a_2', 'a_3', 'a_4'];
    const fact = fc.record({
      type: fc.constantFrom('agent.spawned', 'turn.started', 'agent.stopped', 'agent.requested'),
      agent: fc.constantFrom(...ids),
      parent: fc.constantFrom(null, ...ids),
      child: fc.constantFrom(...ids),
      origin: fc.constantFrom(undefined, EXPLORER, { depth: 'deep' }, 7),
    });
    fc.assert(
      fc.property(fc.array(fact, { maxLength: 30 }), fc.boolean(), (facts, isLive) => {
        const agents = agentsAfter(facts as readonly Fact[], isLive);
        const seen = agents.map(({ id }) => id);
        const mentioned = facts.flatMap(({ agent, type, child: other }) =>
          type === 'agent.requested' ? [agent, other] : [agent],
        );
        expect(seen.toSorted()).toEqual([...new Set(mentioned)].sort());
        expect(agents.every(({ status }) => isLive || status !== 'running')).toBe(true);
      }),
    );
  });
});

describe('an agent that runs on workers', () => {
  const origin = { kind: 'background', type: 'tester', description: 'test', call: 'c', depth: 1 };
  const own = { ...EXPLORER, depth: 2 };
  const below = child('a_3', own, started).map((fact) => ({ ...fact, parent: 'a_2' }));
  const facts = [...BEGUN, started, ...child('a_2', origin, started), ...below];
  const job = { id: 'a_2', swarm: 's_1', addedAt: 1 };
  const statusOf = (isLive: boolean, jobs: readonly ListedJob[]) =>
    agentsAfter(facts, isLive, jobs).map(({ status }) => status);

  test('runs with its descendants while a worker has its job, even without the lead', () => {
    const jobs = [{ ...job, worker: 'w_1' }];
    expect(statusOf(false, jobs)).toEqual(['lost', 'running', 'running']);
    expect(statusOf(true, jobs)).toEqual(['running', 'running', 'running']);
  });

  test('is queued while no worker has its job, even if it ran before', () => {
    const jobs = [{ ...job, worker: undefined }];
    expect(statusOf(false, jobs)).toEqual(['lost', 'queued', 'queued']);
    expect(statusOf(true, jobs)).toEqual(['running', 'queued', 'queued']);
    expect(agentsAfter(facts, true, jobs)[1]).toMatchObject({ state: 'queued', calls: [] });
  });

  test('has lost its worker if it was running and no worker has its job', () => {
    const lostBy = (more: readonly Fact[], worker?: string) =>
      agentsAfter([...facts, ...more], true, [{ ...job, worker }]).map((it) => it.hasLostWorker);
    expect(lostBy([])).toEqual([false, true, true]);
    expect(lostBy([], 'w_1')).toEqual([false, false, false]);
    const queued = {
      type: 'agent.queued',
      reason: 'It waits.',
      agent: 'a_2',
      parent: 'a_1',
    } as const;
    expect(lostBy([queued])).toEqual([false, false, true]);
  });

  test('has ended after its last record, even if its job still exists', () => {
    const stopped = {
      type: 'agent.stopped',
      reason: 'end_turn',
      agent: 'a_2',
      parent: 'a_1',
    } as const;
    const agents = agentsAfter([...facts, stopped], false, [{ ...job, worker: 'w_1' }]);
    expect(agents[1]).toMatchObject({ status: 'ended' });
  });
});

describe('the address of an agent', () => {
  const swarm = (id: string, facts: readonly Fact[]): SwarmView => ({
    session: { id, lead: 'a_1' } as SessionMeta,
    holder: { pid: 1, host: 'here' },
    agents: agentsAfter([...BEGUN, ...facts]),
  });
  const named = (name: string) => ({ ...EXPLORER, name });
  const one = swarm('s_one', [
    ...child('a_2xyz', named('docs'), started),
    ...child('a_2abc', named('docs'), { type: 'agent.stopped', reason: 'end_turn' }),
    ...child('a_3', named('tests'), started),
  ]);
  const idOf = (address: string, ...swarms: readonly SwarmView[]) =>
    findAgent(swarms.length === 0 ? [one] : swarms, address).agent.id;

  test.each([
    ['an id', 'a_3', 'a_3'],
    ['a name, of running agents first', 'docs', 'a_2xyz'],
    ['the start of an id', 'a_2a', 'a_2abc'],
    ['the start of a name', 'te', 'a_3'],
    ['a session, for its lead', 's_one', 'a_1'],
    ['the lead', 'lead', 'a_1'],
  ])('can be %s', (_, address, id) => {
    expect(idOf(address)).toBe(id);
  });

  test('that matches several agents or none is rejected with a list of agents', () => {
    expect(() => idOf('a_2')).toThrow(/"a_2" matches 2 agents: a_2xyz \(docs of s_one\), a_2abc/);
    expect(() => idOf('lead', one, swarm('s_two', []))).toThrow(UsageError);
    expect(() => idOf('nobody')).toThrow(
      /no agent "nobody". There is a_1 \(lead of s_one\), a_2xyz/,
    );
    expect(() => idOf('')).toThrow(UsageError);
    expect(() => findAgent([], 'x')).toThrow(/no swarm is running/);
  });
});
