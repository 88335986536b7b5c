import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { ReplayFold } from '../../../src/views/replay/replay-fold.js';
import type { ReplayLog } from '../../../src/views/replay/replay-log.js';
import type { SwarmView } from '../../../src/views/swarm/swarm-view.js';
import { anyEvents, logOf } from '../any-log.js';

/** View with the rate at a time, because the throughput object is not comparable. */
const comparable = ({ throughput, ...view }: SwarmView, now: number) => ({
  ...view,
  rate: throughput?.at(now),
});

const fromTheStart = (log: ReplayLog, position: number) => new ReplayFold(log).at(position);

type Fact = Partial<SwarmEvent> & Pick<SwarmEvent, 'type'>;

const eventsOf = (...facts: readonly Fact[]): readonly SwarmEvent[] =>
  facts.map((fact, index) => ({
    v: 1,
    swarm: 's_1',
    seq: index + 1,
    ts: 1_000 + index,
    agent: 'a_1',
    parent: null,
    cites: { seq: index + 1 },
    ...fact,
  }));

const child = { agent: 'a_2', parent: 'a_1' };
const origin = { kind: 'background', type: 'runner', description: 'to run', depth: 1 };

describe('a swarm at a position of its log', () => {
  test('does not depend on the positions that were requested before', () => {
    const places = fc.array(fc.nat(60), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(anyEvents, places, fc.integer({ min: 1, max: 9 }), (events, all, interval) => {
        const log = logOf(events);
        const fold = new ReplayFold(log, interval);
        for (const place of all) {
          const position = Math.min(place, log.length);
          const view = fold.at(position);
          const now = log.times[position - 1] ?? 0;
          expect(comparable(view, now)).toEqual(comparable(fromTheStart(log, position), now));
          expect(fold.at(position)).toBe(view);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('has lost agents only after the owner has stopped', () => {
    const log = logOf(
      eventsOf(
        { type: 'agent.spawned' },
        { type: 'epoch.began', epoch: 1 },
        { type: 'run.started' },
        { type: 'agent.spawned', ...child, origin },
        { type: 'run.started', ...child },
        { type: 'turn.started', ...child },
        // The process died here, and another process resumed the session.
        { type: 'epoch.began', epoch: 2 },
        { type: 'run.started' },
        { type: 'epoch.began', epoch: 2, ...child },
        { type: 'run.started', ...child },
        { type: 'agent.stopped', reason: 'end_turn', ...child },
        { type: 'run.ended', reason: 'end_turn' },
      ),
    );
    const fold = new ReplayFold(log);
    const statuses = (position: number) => fold.at(position).agents.map(({ status }) => status);
    expect([2, 3, 4, 5].map(statuses)).toEqual([
      ['running'],
      ['running'],
      ['running', 'running'],
      ['running', 'running'],
    ]);
    expect(statuses(6)).toEqual(['lost', 'lost']);
    expect(statuses(7)).toEqual(['running', 'lost']);
    expect(statuses(9)).toEqual(['running', 'running']);
    expect(statuses(12)).toEqual(['ended', 'ended']);
  });

  test('has a running child that a worker resumed before another process resumed the lead', () => {
    const log = logOf(
      eventsOf(
        { type: 'agent.spawned' },
        { type: 'epoch.began', epoch: 1 },
        { type: 'agent.spawned', ...child, origin },
        { type: 'epoch.began', epoch: 2, ...child },
        { type: 'turn.started', ...child },
        { type: 'epoch.began', epoch: 2 },
        { type: 'run.started' },
        { type: 'turn.ended', stopReason: 'end_turn', ...child },
      ),
    );
    const fold = new ReplayFold(log);
    const ofChild = (position: number) => fold.at(position).agents[1]?.status;
    expect([5, 6, 7].map(ofChild)).toEqual(['running', 'running', 'running']);
    expect(ofChild(8)).toBe('lost');
  });

  test('has a running lead at the end of a log that a process still writes', () => {
    const events = eventsOf(
      { type: 'agent.spawned' },
      { type: 'epoch.began', epoch: 1 },
      { type: 'run.started' },
      { type: 'turn.started' },
    );
    const end = (isHeld: boolean) => fromTheStart(logOf(events, isHeld), 4).agents[0]?.status;
    expect([end(true), end(false)]).toEqual(['running', 'lost']);
  });
});
