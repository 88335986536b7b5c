import { describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../src/protocol/session/journal-record.js';
import type { SwarmEvent } from '../../src/protocol/session/swarm-event.js';
import { examine } from './examination.js';
import type { Remains } from './remains.js';
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

/** A swarm of one agent that went well, but for what is said. */
const wrongWith = (change: Partial<Remains>, agent = AGENT, lead = LEAD): readonly string[] => {
  const event = { seq: 1, agent: 'a_1', type: 'agent.stopped' } as unknown as SwarmEvent;
  const right = { mail: new Map(), jobs: new Map(), badCopies: [], lasting: [], processes: [] };
  const journals = { agents: new Map([['a_1', numbered(agent)]]), lead: numbered(lead) };
  const seen = { events: [event], effects: [tokenOf(0)], shown: new Map([['a_1', 'ended']]) };
  return examine({ ...right, ...journals, ...seen, ...change }, 1).wrong;
};

describe('the examination of what a storm has left', () => {
  test('finds nothing wrong with a swarm that went well', () => {
    expect(wrongWith({})).toEqual([]);
  });

  test('finds an agent that has ended twice, badly, or not at all', () => {
    expect(wrongWith({}, [...AGENT, END])).toEqual([expect.stringContaining('ended 2 times')]);
    const badly = { ...END, reason: 'model_error' };
    expect(wrongWith({}, AGENT.with(-1, badly))).toEqual([expect.stringContaining('model_error')]);
    expect(wrongWith({ events: [] })).toEqual([expect.stringContaining('0 in the index')]);
  });

  test('finds an effect that came twice, or never though its call says so', () => {
    const twice = { effects: [tokenOf(0), tokenOf(0)] };
    expect(wrongWith(twice)).toEqual(['token-000. left 2 lines, and its call is ok.']);
    expect(wrongWith({ effects: [] })).toHaveLength(1);
    const cut = AGENT.with(3, { ...CALL, outcome: 'interrupted' });
    expect(wrongWith({ effects: [] }, cut)).toEqual([]);
    expect(wrongWith(twice, cut)).toHaveLength(1);
  });

  test('finds letters that were lost, came twice, wait or are dead', () => {
    expect(wrongWith({}, AGENT, LEAD.slice(0, 2))).toEqual([expect.stringContaining('r_a_1_')]);
    expect(wrongWith({}, AGENT, [...LEAD, { type: 'letter.received', letter: 'm_1' }])).toEqual([
      expect.stringContaining('came 2 times'),
    ]);
    const mail = new Map([['a_1', { waiting: 1, dead: ['{}'] }]]);
    expect(wrongWith({ mail })).toHaveLength(2);
  });

  test('finds records of a zombie, gaps and copies that differ', () => {
    expect(wrongWith({}, AGENT.with(2, { ...AGENT[2], epoch: 0 }))).toEqual([
      expect.stringContaining('older epoch'),
    ]);
    expect(wrongWith({}, AGENT.with(2, { ...AGENT[2], seq: 9 }))).toEqual([
      expect.stringContaining('number 9 in place 3'),
    ]);
    expect(wrongWith({ badCopies: ['a_1'] })).toHaveLength(1);
  });

  test('finds who is shown as at work, jobs, keys and processes that are left', () => {
    expect(wrongWith({ shown: new Map([['a_1', 'running']]) })).toHaveLength(1);
    expect(wrongWith({ jobs: new Map([['active', 1]]) })).toEqual(['1 jobs are active.']);
    expect(wrongWith({ lasting: ['key'], processes: ['1 sleep'] })).toHaveLength(2);
    expect(wrongWith({ agents: new Map() })).toContain('There are 0 agents.');
  });
});
