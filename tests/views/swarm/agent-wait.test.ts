import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ListedJob } from '../../../src/protocol/session/job-queue.js';
import { EVENT_TYPES, type SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { WAIT_KINDS } from '../../../src/views/swarm/agent-wait.js';
import { SwarmFold } from '../../../src/views/swarm/swarm-fold.js';

type Fact = Partial<SwarmEvent> & Pick<SwarmEvent, 'type'>;

const of = (agent: string, type: SwarmEvent['type'], more: object = {}): Fact => ({
  type,
  agent,
  parent: agent === 'a_1' ? null : 'a_1',
  ...more,
});

/** The wait of each agent after some facts. Each fact is a millisecond later. */
const waitsAfter = (facts: readonly Fact[], isLive = true, jobs: readonly ListedJob[] = []) => {
  const fold = new SwarmFold('a_1');
  for (const [index, fact] of [...BEGUN, ...facts].entries()) {
    const head = { v: 1, seq: index + 1, ts: index, swarm: 's_1', agent: 'a_1' } as const;
    fold.take({ ...head, parent: null, cites: { seq: index + 1 }, ...fact });
  }
  return new Map(fold.agents(isLive, jobs).map(({ id, wait }) => [id, wait]));
};
const lead = (...facts: readonly Fact[]) => waitsAfter(facts).get('a_1');

const BEGUN: readonly Fact[] = [
  of('a_1', 'agent.spawned', { model: 'm' }),
  of('a_1', 'epoch.began', { epoch: 1 }),
  of('a_1', 'run.started', { run: 1 }),
];
const started = of('a_1', 'turn.started', { model: 'claude' });
const ended = (stopReason: string) => of('a_1', 'turn.ended', { stopReason });
const running = (call: string, tool: string, description = `${tool} x`) =>
  of('a_1', 'tool.started', { call, tool, description });
const over = (call: string) => of('a_1', 'tool.ended', { call });
const asks = (call: string) =>
  of('a_1', 'permission.requested', { call, tool: 'Bash', description: 'Bash rm x' });
const wants = (child: string, call: string, kind = 'sync') =>
  of('a_1', 'agent.requested', { child, call, kind, agentType: 'explorer' });
const born = (child: string, kind: string, name?: string) =>
  of(child, 'agent.spawned', { origin: { kind, type: 'explorer', name, depth: 1 } });
const queued = (why: string, call: string | null = null, purpose = 'turn') =>
  of('a_1', 'request.queued', { purpose, call, why });
const consulted = (type: 'consultation.started' | 'consultation.ended', call: string | null) =>
  of('a_1', type, { purpose: call === null ? 'summary' : 'page', call });

const turn = [started, ended('tool_use')];

describe('an agent waits', () => {
  test('for the model from the start of its request', () => {
    expect(lead(started)).toEqual({
      kind: 'model',
      detail: 'claude',
      since: 3,
      agents: [],
      count: 1,
    });
    expect(lead(consulted('consultation.started', null))).toMatchObject({ kind: 'model' });
  });

  test('not while a call runs, nor before a request', () => {
    expect(lead()).toBeNull();
    expect(lead(...turn)).toBeNull();
    expect(lead(...turn, running('1', 'Bash'))).toBeNull();
    expect(lead(...turn, running('1', 'Bash'), running('2', 'Task'), wants('a_2', '2'))).toBeNull();
    expect(lead(...turn, running('1', 'Task'))).toBeNull();
  });

  test('for a person when no other call can continue', () => {
    expect(lead(...turn, asks('1'), asks('2'))).toEqual({
      kind: 'permission',
      detail: 'Bash rm x',
      since: 5,
      agents: [],
      count: 2,
    });
    expect(lead(...turn, asks('1'), running('2', 'Bash'))).toBeNull();
    expect(lead(...turn, running('2', 'Task'), wants('a_2', '2'), asks('1'))).toMatchObject({
      kind: 'permission',
    });
    expect(
      lead(...turn, asks('1'), of('a_1', 'permission.ruled', { call: '1', behavior: 'allow' })),
    ).toBeNull();
  });

  test('for the agents of its Task calls', () => {
    const two = [running('1', 'Task'), wants('a_2', '1'), running('2', 'Task'), wants('a_3', '2')];
    expect(lead(...turn, ...two)).toEqual({
      kind: 'child',
      detail: 'explorer',
      since: 5,
      agents: ['a_2', 'a_3'],
      count: 2,
    });
    expect(lead(...turn, ...two, over('1'))).toMatchObject({ agents: ['a_3'], count: 1 });
    expect(lead(...turn, ...two, born('a_2', 'sync', 'docs'))).toMatchObject({ detail: 'docs' });
  });

  test('for many agents and lists only the first five', () => {
    const many = Array.from({ length: 50 }, (_, at) => `a_c${at}`);
    const calls = many.flatMap((id) => [running(`call_${id}`, 'Task'), wants(id, `call_${id}`)]);
    expect(lead(...turn, ...calls)).toMatchObject({ agents: many.slice(0, 5), count: 50 });
  });

  test('for an agent whose output it requests, and not for a command', () => {
    const child = [wants('a_2', '1', 'background'), born('a_2', 'background', 'docs'), over('1')];
    const readsOutput = (task: string) => running('2', 'TaskOutput', `TaskOutput ${task}`);
    expect(lead(...turn, ...child, readsOutput('docs'))).toMatchObject({
      kind: 'child',
      agents: ['a_2'],
    });
    expect(lead(...turn, ...child, readsOutput('a_2'))).toMatchObject({ agents: ['a_2'] });
    expect(lead(...turn, ...child, readsOutput('bash_1'))).toBeNull();
  });

  test('after its last answer for its background agents, until the last has ended', () => {
    const both = [
      born('a_2', 'background', 'docs'),
      born('a_3', 'background'),
      born('a_4', 'sync'),
    ];
    const answered = [started, ...both, ended('end_turn')];
    expect(lead(...answered)).toMatchObject({
      kind: 'child',
      detail: 'docs',
      agents: ['a_2', 'a_3'],
      count: 2,
    });
    const gone = of('a_2', 'agent.stopped', { reason: 'end_turn' });
    expect(lead(...answered, gone)).toMatchObject({ agents: ['a_3'], count: 1 });
    const other = of('a_3', 'agent.stopped', { reason: 'end_turn' });
    expect(lead(...answered, gone, other)).toBeNull();
    const again = of('a_3', 'run.started', { run: 2 });
    expect(lead(...answered, gone, other, again)).toMatchObject({ agents: ['a_3'] });
  });

  test('while idle for a running teammate, and not for an idle teammate', () => {
    const mate = [born('a_2', 'teammate', 'docs'), of('a_2', 'run.started', { run: 1 })];
    const rest = of('a_1', 'run.ended', { reason: 'end_turn' });
    expect(lead(...mate, rest)).toMatchObject({ kind: 'child', agents: ['a_2'] });
    expect(lead(...mate, rest, of('a_2', 'run.ended', { reason: 'end_turn' }))).toBeNull();
  });

  test.each([
    ['requests', 'requests'],
    ['rate-limit', 'rate-limit'],
    ['budget', 'budget'],
    ['warming', 'warming'],
    ['who knows', 'unknown'],
  ])('before a request that is held for %s', (why, kind) => {
    expect(lead(queued(why))).toMatchObject({ kind, since: 3 });
    expect(lead(...turn, running('1', 'WebFetch'), queued(why, '1', 'page'))).toMatchObject({
      kind,
      since: 6,
    });
  });

  test('for the model request of a call while no other call runs', () => {
    const call = [...turn, running('1', 'WebFetch'), queued('requests', '1', 'page')];
    const asking = [...call, consulted('consultation.started', '1')];
    expect(lead(...asking)).toMatchObject({ kind: 'model', since: 7 });
    expect(lead(...asking, running('2', 'Bash'))).toBeNull();
    expect(lead(...asking, consulted('consultation.ended', '1'))).toBeNull();
  });

  test('for a retry after a failure, or for the rate limit if that was the cause', () => {
    const failed = (kind: string) => of('a_1', 'turn.failed', { kind, attempt: 2, message: 'No.' });
    expect(lead(started, failed('overloaded'))).toMatchObject({
      kind: 'retry',
      detail: 'attempt 2 failed: No.',
    });
    expect(lead(started, failed('rate-limited'))).toMatchObject({
      kind: 'rate-limit',
      detail: 'attempt 2 failed: No.',
    });
    const retry = of('a_1', 'retry.scheduled', { attempt: 3, attempts: 11, durationMs: 1_500 });
    expect(lead(started, failed('overloaded'), retry)).toMatchObject({
      kind: 'retry',
      detail: 'attempt 3 of 11, 2 s after attempt 2 failed: No.',
    });
    const unreadable = of('a_1', 'retry.scheduled', { attempt: 'x', durationMs: {} });
    expect(lead(started, failed('overloaded'), unreadable)).toMatchObject({
      detail: 'attempt 0 of 0, 0 s after attempt 2 failed: No.',
    });
    expect(lead(started, retry)).toMatchObject({ kind: 'model' });
    expect(lead(of('a_1', 'agent.restarted', { reason: 'A defect.' }))).toMatchObject({
      kind: 'retry',
      detail: 'A defect.',
    });
    expect(lead(started, failed('overloaded'), started)).toMatchObject({ kind: 'model' });
  });
});

describe('an agent that has not started waits', () => {
  const asked = [wants('a_2', '1', 'background'), born('a_2', 'background')];
  const child = (facts: readonly Fact[], jobs: readonly ListedJob[] = []) =>
    waitsAfter(facts, true, jobs).get('a_2');

  test('for a slot or for a worker, as its last record says', () => {
    expect(child([...asked, of('a_2', 'agent.queued', { reason: 'Full.' })])).toEqual({
      kind: 'place',
      detail: null,
      since: 5,
      agents: [],
      count: 1,
    });
    expect(child([...asked, of('a_2', 'agent.queued', { awaits: 'worker' })])).toMatchObject({
      kind: 'worker',
      detail: null,
    });
    const refused = of('a_2', 'agent.queued', { reason: 'No git here.', worker: 'w_1' });
    expect(child([...asked, refused])).toMatchObject({ kind: 'worker', detail: 'No git here.' });
    expect(child([wants('a_2', '1', 'background')])).toBeNull();
  });

  test('for a worker while its job is queued, even if it ran before', () => {
    const job = { id: 'a_2', swarm: 's_1', addedAt: 1, worker: undefined };
    expect(child([...asked, of('a_2', 'turn.started')], [job])).toMatchObject({ kind: 'worker' });
    expect(child([...asked, of('a_2', 'turn.started')], [{ ...job, worker: 'w_1' }])).toMatchObject(
      { kind: 'model' },
    );
  });
});

describe('a worktree lock that another agent holds', () => {
  const awaited = (agent: string, more: object = {}) =>
    of(agent, 'lock.awaited', { place: '/repo', holder: 'a_9', ...more });
  const LOCK = { kind: 'lock', detail: '/repo', agents: ['a_9'] };

  test('makes an ended agent wait until its work is merged back', () => {
    const facts = [born('a_2', 'sync'), of('a_2', 'agent.stopped', { reason: 'end_turn' })];
    const waiting = [...facts, awaited('a_2')];
    expect(waitsAfter(waiting).get('a_2')).toMatchObject(LOCK);
    expect(waitsAfter([...waiting, of('a_2', 'worktree.settled')]).get('a_2')).toBeNull();
    expect(waitsAfter(waiting, false).get('a_2')).toBeNull();
  });

  test('makes a child without a record wait until it has a record', () => {
    const waiting = [wants('a_2', '1'), awaited('a_1', { child: 'a_2' })];
    expect(waitsAfter(waiting).get('a_2')).toMatchObject(LOCK);
    expect(waitsAfter(waiting).get('a_1')).toBeNull();
    expect(waitsAfter([...waiting, born('a_2', 'sync')]).get('a_2')).toBeNull();
  });
});

test('an agent that no process runs does not wait', () => {
  expect(waitsAfter([...turn, asks('1')], false).get('a_1')).toBeNull();
  expect(waitsAfter([started], false).get('a_1')).toBeNull();
  expect(lead(started, of('a_1', 'agent.stopped', { reason: 'stopped' }))).toBeNull();
});

test('each agent has at most one reason to wait, for any sequence of events', () => {
  const value = fc.constantFrom<unknown>('a_1', 'a_2', '1', 'TaskOutput a_2', 'Task', 7, null, {});
  const keys = ['call', 'child', 'tool', 'description', 'why', 'purpose', 'holder', 'place'];
  const fact = fc.tuple(
    fc.constantFrom(...EVENT_TYPES),
    fc.constantFrom('a_1', 'a_2', 'a_3'),
    fc.record(Object.fromEntries(keys.map((key) => [key, value]))),
  );
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 30 }), fc.boolean(), (facts, isLive) => {
      const waits = waitsAfter(
        facts.map(([type, agent, more]) => of(agent, type, more)),
        isLive,
      );
      for (const wait of waits.values()) {
        if (wait === null) continue;
        expect(WAIT_KINDS).toContain(wait.kind);
        expect(wait.count).toBeGreaterThan(0);
        expect(Number.isFinite(wait.since)).toBe(true);
      }
    }),
  );
});
