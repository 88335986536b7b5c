import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { ReplayFold } from '../../../src/views/replay/replay-fold.js';
import { readReplayLog } from '../../../src/views/replay/replay-log.js';
import { meta } from '../../store/contracts/records.js';
import { anyEvents, logOf } from '../any-log.js';

const storeOf = (events: readonly SwarmEvent[], isHeld = false) => ({
  async *events() {
    yield* events;
  },
  holder: async () => (isHeld ? { pid: 1, host: 'here' } : undefined),
});

const event = (seq: number, more: Partial<SwarmEvent> & Pick<SwarmEvent, 'type'>): SwarmEvent => ({
  v: 1,
  swarm: 's_1',
  seq,
  ts: seq * 1_000,
  agent: 'a_1',
  parent: null,
  cites: { seq },
  ...more,
});

describe('a replay log', () => {
  test('is read once, with the information whether a process holds the session', async () => {
    const events = [event(1, { type: 'agent.spawned' }), event(2, { type: 'run.started' })];
    const log = await readReplayLog(storeOf(events, true), meta());
    expect([log.events, log.isHeld, log.left, log.length]).toEqual([events, true, 0, 2]);
  });

  test('keeps no more of long values than the screen can show', async () => {
    const long = 'x'.repeat(5_000);
    const shaped = event(1, { type: 'request.shaped', shape: { 'tool Bash': 'd' } });
    const failed = event(2, { type: 'turn.failed', message: long, kind: 'odd' });
    const log = await readReplayLog(storeOf([shaped, failed]), meta());
    expect(log.events[0]?.shape).toBeUndefined();
    expect(log.events[1]).toEqual({ ...failed, message: `${'x'.repeat(400)}…` });
  });

  test('has times that never decrease and that are valid dates', async () => {
    const log = logOf([5, 3, 9, 1e300, -1].map((ts) => event(1, { type: 'run.started', ts })));
    expect([...log.times]).toEqual([5, 5, 9, 8.64e15, 8.64e15]);
  });

  test('marks questions, failures and ends', () => {
    const log = logOf([
      event(1, { type: 'permission.requested' }),
      event(2, { type: 'turn.failed' }),
      event(3, { type: 'tool.ended', outcome: 'error' }),
      event(4, { type: 'run.ended', reason: 'end_turn' }),
      event(5, { type: 'agent.stopped', reason: 'budget' }),
    ]);
    expect(log.marks.map(({ index, kind }) => [index, kind])).toEqual([
      [0, 'question'],
      [1, 'failure'],
      [3, 'end'],
      [4, 'failure'],
    ]);
  });

  test('knows the last journal record of an agent at each position', () => {
    const log = logOf([
      event(1, { type: 'agent.spawned' }),
      event(2, { type: 'agent.spawned', agent: 'a_2', cites: { seq: 1 } }),
      event(3, { type: 'run.started', agent: 'a_2', cites: { seq: 4 } }),
    ]);
    expect([0, 1, 2, 3].map((position) => log.lastSeqOf('a_2', position))).toEqual([0, 0, 1, 4]);
    expect(log.lastSeqOf('a_9', 3)).toBe(0);
  });

  test('that is too long keeps the state of its omitted beginning', async () => {
    await fc.assert(
      fc.asyncProperty(anyEvents, fc.integer({ min: 1, max: 20 }), async (events, maxEvents) => {
        const log = await readReplayLog(storeOf(events), meta(), { maxEvents });
        expect(log.left + log.length).toBe(events.length);
        expect(log.length).toBeLessThanOrEqual(maxEvents);
        const whole = new ReplayFold(logOf(events)).at(events.length);
        const { throughput: _, ...end } = new ReplayFold(log).at(log.length);
        const { throughput: __, ...expected } = whole;
        expect(end).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
