import { describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../src/protocol/session/journal-record.js';
import type { SwarmEvent } from '../../src/protocol/session/swarm-event.js';
import { checkFinalState } from './check-final-state.js';
import type { FinalState } from './final-state.js';
import { tokenOf } from './swarm-script.js';

type Bare = Readonly<Record<string, unknown>>;

const numbered = (rows: readonly Bare[]) =>
  rows.map((row, at) => ({ seq: at + 1, epoch: 1, ...row })) as unknown as JournalRecord[];

const CALL = { type: 'call.ended', tool: 'Bash', outcome: 'ok' };
const END = { type: 'run.ended', reason: 'end_turn', detail: null };
const AGENT: readonly Bare[] = [
  { type: 'letter.received', letter: 'l_1', raw: tokenOf(0) },
  { type: 'epoch.began' },
  { type: 'letter.sent', letter: 'm_1' },
  CALL,
  END,
];
const LEAD: readonly Bare[] = [
  { type: 'epoch.began' },
  { type: 'letter.received', letter: 'm_1' },
  { type: 'letter.received', letter: 'r_a_1_1' },
];

/** Checks a swarm of a single agent that is correct except for the given changes. */
const findingsFor = (
  change: Partial<FinalState>,
  agent = AGENT,
  lead = LEAD,
): readonly string[] => {
  const event = { seq: 1, agent: 'a_1', type: 'agent.stopped' } as unknown as SwarmEvent;
  const correct = { mail: new Map(), jobs: new Map(), badCopies: [], lasting: [], processes: [] };
  const journals = { agents: new Map([['a_1', numbered(agent)]]), lead: numbered(lead) };
  const seen = { events: [event], effects: [tokenOf(0)], shown: new Map([['a_1', 'ended']]) };
  return checkFinalState({ ...correct, ...journals, ...seen, ...change }, 1).wrong;
};

describe('checkFinalState', () => {
  test('reports no error for a correct swarm', () => {
    expect(findingsFor({})).toEqual([]);
  });

  test('reports an agent that has ended twice, with an error, or not at all', () => {
    expect(findingsFor({}, [...AGENT, END])).toEqual([expect.stringContaining('ended 2 times')]);
    const failed = { ...END, reason: 'model_error' };
    expect(findingsFor({}, AGENT.with(-1, failed))).toEqual([
      expect.stringContaining('model_error'),
    ]);
    expect(findingsFor({ events: [] })).toEqual([expect.stringContaining('0 in the index')]);
  });

  test('reports an effect that happened twice, or never although its call succeeded', () => {
    const twice = { effects: [tokenOf(0), tokenOf(0)] };
    expect(findingsFor(twice)).toEqual(['token-000. left 2 lines, and its call is ok.']);
    expect(findingsFor({ effects: [] })).toHaveLength(1);
    const cut = AGENT.with(3, { ...CALL, outcome: 'interrupted' });
    expect(findingsFor({ effects: [] }, cut)).toEqual([]);
    expect(findingsFor(twice, cut)).toHaveLength(1);
  });

  test('reports letters that are lost, doubled, unread or dead', () => {
    expect(findingsFor({}, AGENT, LEAD.slice(0, 2))).toEqual([expect.stringContaining('r_a_1_')]);
    expect(findingsFor({}, AGENT, [...LEAD, { type: 'letter.received', letter: 'm_1' }])).toEqual([
      expect.stringContaining('came 2 times'),
    ]);
    const mail = new Map([['a_1', { waiting: 1, dead: ['{}'] }]]);
    expect(findingsFor({ mail })).toHaveLength(2);
  });

  test('reports records of an older epoch, gaps and copies that differ', () => {
    expect(findingsFor({}, AGENT.with(2, { ...AGENT[2], epoch: 0 }))).toEqual([
      expect.stringContaining('older epoch'),
    ]);
    expect(findingsFor({}, AGENT.with(2, { ...AGENT[2], seq: 9 }))).toEqual([
      expect.stringContaining('number 9 in place 3'),
    ]);
    expect(findingsFor({ badCopies: ['a_1'] })).toHaveLength(1);
  });

  test('reports an agent that the same process has handed over twice', () => {
    const queued = { type: 'agent.queued', awaits: 'worker' };
    expect(findingsFor({}, [queued, ...AGENT])).toEqual([]);
    expect(findingsFor({}, [queued, { ...queued, epoch: 2 }])).not.toContainEqual(
      expect.stringContaining('several jobs'),
    );
    expect(findingsFor({}, [queued, queued, ...AGENT])).toEqual([
      'token-000. has several jobs of epoch 1.',
    ]);
  });

  test('reports agents shown as running, open jobs, lasting keys, processes and missing agents', () => {
    expect(findingsFor({ shown: new Map([['a_1', 'running']]) })).toHaveLength(1);
    expect(findingsFor({ jobs: new Map([['active', 1]]) })).toEqual(['1 jobs are active.']);
    expect(findingsFor({ lasting: ['key'], processes: ['1 sleep'] })).toHaveLength(2);
    expect(findingsFor({ agents: new Map() })).toContain('There are 0 agents.');
  });
});
