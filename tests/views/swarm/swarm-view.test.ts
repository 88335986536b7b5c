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

/** The agents after some facts; those without an agent are of the lead, `a_1`. */
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
const takenUp: readonly Fact[] = [
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
const RESTED: Fact = { type: 'run.ended', reason: 'end_turn' };
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
    ['awaiting-permission', [started, ended('tool_use'), asked('1'), ...takenUp, asked('1')]],
    ['idle', [started, ended('end_turn'), ...takenUp]],
    ['waiting', [{ type: 'run.started', run: 1 }, queued('requests')]],
    ['waiting', [started, { type: 'turn.failed', kind: 'rate-limited' }, queued('rate-limit')]],
    ['streaming', [queued('warming'), queued('budget'), started]],
    [
      'tool-running',
      [started, ended('tool_use'), tool('tool.started', '1'), queued('budget', '1')],
    ],
    ['streaming', [started, ended('pause_turn'), queued('budget'), consulted]],
    ['compacting', [started, ended('pause_turn'), consulting]],
    ['compacting', [started, ended('end_turn'), RESTED, summaryQueued, consulting]],
    ['waiting', [started, ended('end_turn'), RESTED, summaryQueued]],
    ['idle', [started, ended('end_turn'), RESTED, summaryQueued, consulted]],
    ['idle', [started, ended('end_turn'), RESTED, summaryQueued, consulting, consulted]],
    ['retrying', [started, { type: 'turn.failed' }, consulting, consulted]],
    ['streaming', [started, { type: 'turn.failed' }, consulting, consulted, started]],
    ['tool-running', [started, ended('tool_use'), tool('tool.started', '1'), consultingFor('1')]],
    ['streaming', [started, ended('end_turn'), ...takenUp, { type: 'message.sent', parts: 1 }]],
  ])('is %s after what its events say', (state, facts) => {
    expect(lead(...facts)?.state).toBe(state);
  });

  test('has the sums of its turns, and no price where one is not known', () => {
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

  test('of a copied session is not billed for what another one paid', () => {
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

  test('says what its request waits for, until it leaves', () => {
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

  test('shows what it runs and what it asks, and nothing of it once it has ended', () => {
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

describe('a compaction that somebody asks for at rest', () => {
  const resting = [started, ended('end_turn'), RESTED, consulting];

  test('is no run: how the last one ended is still told, and nobody is lost with it', () => {
    expect(lead(...resting)).toMatchObject({
      state: 'compacting',
      status: 'running',
      stop: { reason: 'end_turn' },
    });
    expect(agentsAfter([...BEGUN, ...resting], false)[0]).toMatchObject({ status: 'ended' });
  });
});

describe('the window of an agent', () => {
  const tokens = (...facts: readonly Fact[]) => lead(...facts)?.contextTokens;
  const asked = { ...started, estimatedTokens: 90 };
  const compacted: Fact = { type: 'context.compacted', tokensAfter: 30 };

  test('is what was sent, then what was counted, then what is left of it', () => {
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

describe('who works', () => {
  const working = [...BEGUN, started];

  test('is running while its session has an owner, and lost without one', () => {
    expect(agentsAfter(working)).toMatchObject([{ status: 'running', state: 'streaming' }]);
    expect(agentsAfter(working, false)).toMatchObject([{ status: 'lost', state: 'lost' }]);
    expect(agentsAfter(BEGUN, false)).toMatchObject([{ status: 'ended', state: 'stopped' }]);
    const waiting = [...working, ended('end_turn')];
    expect(agentsAfter(waiting)).toMatchObject([{ status: 'running', state: 'idle' }]);
    expect(agentsAfter(waiting, false)).toMatchObject([{ status: 'lost', state: 'lost' }]);
  });

  test('a child that nobody has taken up again is lost while its session goes on', () => {
    const one = child('a_2', EXPLORER, { ...started });
    const again: Fact = { type: 'epoch.began', epoch: 2 };
    expect(agentsAfter([...working, ...one])[1]).toMatchObject({ status: 'running' });
    expect(agentsAfter([...working, ...one, again])[1]).toMatchObject({ status: 'lost' });
    const taken = child('a_2', EXPLORER, started).slice(1);
    expect(agentsAfter([...working, ...one, again, ...taken])[1]).toMatchObject({
      status: 'running',
    });
  });

  test('a child that was asked for and has no record yet is queued', () => {
    const wanted = {
      child: 'a_2',
      kind: 'background',
      agentType: 'tester',
      description: 'test it',
    };
    expect(agentsAfter([...working, { type: 'agent.requested', ...wanted }])[1]).toMatchObject({
      id: 'a_2',
      kind: 'background',
      type: 'tester',
      parent: 'a_1',
      depth: 1,
      status: 'queued',
      state: 'queued',
    });
  });

  test('whatever the events are, each agent is there once, behind its parent', () => {
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
        const told = facts.flatMap(({ agent, type, child: other }) =>
          type === 'agent.requested' ? [agent, other] : [agent],
        );
        expect(seen.toSorted()).toEqual([...new Set(told)].sort());
        expect(agents.every(({ status }) => isLive || status !== 'running')).toBe(true);
      }),
    );
  });
});

describe('an agent that workers take', () => {
  const origin = { kind: 'background', type: 'tester', description: 'test', call: 'c', depth: 1 };
  const own = { ...EXPLORER, depth: 2 };
  const below = child('a_3', own, started).map((fact) => ({ ...fact, parent: 'a_2' }));
  const facts = [...BEGUN, started, ...child('a_2', origin, started), ...below];
  const job = { id: 'a_2', swarm: 's_1', addedAt: 1 };
  const statusOf = (isLive: boolean, jobs: readonly ListedJob[]) =>
    agentsAfter(facts, isLive, jobs).map(({ status }) => status);

  test('runs with all that work for it while a worker has it, also without its lead', () => {
    const jobs = [{ ...job, worker: 'w_1' }];
    expect(statusOf(false, jobs)).toEqual(['lost', 'running', 'running']);
    expect(statusOf(true, jobs)).toEqual(['running', 'running', 'running']);
  });

  test('is queued when no worker has it, whatever it did before', () => {
    const jobs = [{ ...job, worker: undefined }];
    expect(statusOf(false, jobs)).toEqual(['lost', 'queued', 'queued']);
    expect(statusOf(true, jobs)).toEqual(['running', 'queued', 'queued']);
    expect(agentsAfter(facts, true, jobs)[1]).toMatchObject({ state: 'queued', calls: [] });
  });

  test('has lost its worker if it was at work and none has it', () => {
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

  test('has ended when it says so, though its job is still there', () => {
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

describe('an address', () => {
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
  const meant = (wanted: string, ...swarms: readonly SwarmView[]) =>
    findAgent(swarms.length === 0 ? [one] : swarms, wanted).agent.id;

  test.each([
    ['an id', 'a_3', 'a_3'],
    ['a name, of those that still work first', 'docs', 'a_2xyz'],
    ['the beginning of an id', 'a_2a', 'a_2abc'],
    ['the beginning of a name', 'te', 'a_3'],
    ['a session, for its lead', 's_one', 'a_1'],
    ['the lead', 'lead', 'a_1'],
  ])('is %s', (_, wanted, id) => {
    expect(meant(wanted)).toBe(id);
  });

  test('that fits several or none lists whom there is', () => {
    expect(() => meant('a_2')).toThrow(/"a_2" matches 2 agents: a_2xyz \(docs of s_one\), a_2abc/);
    expect(() => meant('lead', one, swarm('s_two', []))).toThrow(UsageError);
    expect(() => meant('nobody')).toThrow(
      /no agent "nobody". There is a_1 \(lead of s_one\), a_2xyz/,
    );
    expect(() => meant('')).toThrow(UsageError);
    expect(() => findAgent([], 'x')).toThrow(/nothing runs/);
  });
});
