import { describe, expect, test } from 'vitest';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import type { AgentFold } from '../../../src/views/swarm/agent-fold.js';
import type { AgentLiveness, AgentView } from '../../../src/views/swarm/agent-view.js';
import { SwarmFold } from '../../../src/views/swarm/swarm-fold.js';

/** Counts the created views. */
class CountingFold extends SwarmFold {
  made = 0;

  protected override makeView(agent: AgentFold, liveness: AgentLiveness): AgentView {
    this.made += 1;
    return super.makeView(agent, liveness);
  }
}

const CHILDREN = Array.from({ length: 500 }, (_, at) => `a_child${at}`);
const JOB = { id: 'a_child7', swarm: 's_1', addedAt: 1 };

const swarm = () => {
  const fold = new CountingFold('a_1');
  let seq = 0;
  const take = (agent: string, type: SwarmEvent['type'], more: object = {}) => {
    seq += 1;
    const head = { v: 1, seq, ts: seq, swarm: 's_1', agent, cites: { seq } } as const;
    fold.take({ ...head, type, parent: agent === 'a_1' ? null : 'a_1', ...more });
  };
  take('a_1', 'agent.spawned');
  take('a_1', 'epoch.began', { epoch: 1 });
  const origin = { kind: 'background', type: 'explorer', description: 'look', depth: 1 };
  for (const child of CHILDREN) take(child, 'agent.spawned', { origin });
  fold.agents(true);
  fold.made = 0;
  return { fold, take };
};

describe('SwarmFold with repeated reads', () => {
  test('creates no view and no list without an event', () => {
    const { fold } = swarm();
    const before = fold.agents(true);
    expect(fold.agents(true)).toBe(before);
    expect(fold.made).toBe(0);
  });

  test('creates only the view of the agent that had an event', () => {
    const { fold, take } = swarm();
    const before = fold.agents(true);
    take('a_child7', 'turn.started', { model: 'm' });
    take('a_child7', 'turn.ended', { stopReason: 'tool_use' });
    const after = fold.agents(true);
    expect(fold.made).toBe(1);
    expect(after.filter((view, at) => view !== before[at]).map(({ id }) => id)).toEqual([
      'a_child7',
    ]);
  });

  test('creates one view per event, with ten reads a second and an event of each agent between reads', () => {
    const { fold, take } = swarm();
    for (let look = 0; look < 10; look += 1) {
      for (const child of CHILDREN) take(child, 'message.sent');
      fold.agents(true);
    }
    expect(fold.made).toBe(5_000);
  });

  test('recreates all views when the owner is gone, and a single view when its worker is gone', () => {
    const { fold } = swarm();
    fold.agents(true, [{ ...JOB, worker: 'w_1' }]);
    expect(fold.made).toBe(1);
    const [, , , , , , , , left] = fold.agents(true, [{ ...JOB, worker: undefined }]);
    expect([fold.made, left?.id, left?.status]).toEqual([2, 'a_child7', 'queued']);
    fold.agents(false, [{ ...JOB, worker: undefined }]);
    expect(fold.made).toBe(2 + 501);
  });

  test('recreates the views of agents that a new owner has not resumed yet', () => {
    const { fold, take } = swarm();
    take('a_1', 'epoch.began', { epoch: 2 });
    const [, first] = fold.agents(true);
    expect(first?.status).toBe('lost');
    take('a_child0', 'epoch.began', { epoch: 2 });
    expect(fold.agents(true)[1]?.status).toBe('running');
  });

  test('recreates only the views of lost agents when another agent has an event', () => {
    const { fold, take } = swarm();
    take('a_child3', 'agent.stopped', { reason: 'end_turn' });
    const before = fold.agents(false);
    take('a_child7', 'message.sent');
    const after = fold.agents(false);
    const kept = after.filter((view, at) => view === before[at]);
    expect(kept.map(({ id }) => id)).toEqual(['a_1', 'a_child3']);
  });

  test('puts a new child after its parent', () => {
    const { fold, take } = swarm();
    const before = fold.agents(true);
    take('a_child3', 'agent.requested', { child: 'a_new', kind: 'sync', agentType: 'tester' });
    const after = fold.agents(true);
    expect([after.length, after[5]?.id, after[6]]).toEqual([502, 'a_new', before[5]]);
  });
});

describe('a lost agent', () => {
  const lived = () => {
    const fold = new SwarmFold('a_1');
    const take = (ts: number, agent: string, type: SwarmEvent['type'], more: object = {}) => {
      const head = { v: 1, seq: ts, ts, swarm: 's_1', agent, cites: { seq: ts } } as const;
      fold.take({ ...head, type, parent: agent === 'a_1' ? null : 'a_1', ...more });
    };
    const origin = { kind: 'background', type: 'explorer', description: 'look', depth: 1 };
    take(0, 'a_1', 'agent.spawned');
    take(0, 'a_1', 'epoch.began', { epoch: 1 });
    take(0, 'a_1', 'run.started');
    take(1_000, 'a_2', 'agent.spawned', { origin });
    take(1_000, 'a_2', 'turn.started', { model: 'm' });
    return { fold, take };
  };
  const lostAt = (fold: SwarmFold, isLive = false) =>
    fold.agents(isLive).map((view) => view.lostAt);

  test('was alive until the last event of its swarm', () => {
    const { fold, take } = lived();
    take(65_000, 'a_1', 'message.sent');
    expect(lostAt(fold, true)).toEqual([null, null]);
    expect(lostAt(fold)).toEqual([65_000, 65_000]);
    expect(lostAt(fold.copy())).toEqual([65_000, 65_000]);
  });

  test('was not run by a process that resumed its session but not the agent', () => {
    const { fold, take } = lived();
    take(65_000, 'a_1', 'message.sent');
    take(900_000, 'a_1', 'epoch.began', { epoch: 2 });
    take(950_000, 'a_1', 'message.sent');
    expect(lostAt(fold, true)).toEqual([null, 65_000]);
    expect(lostAt(fold.copy())).toEqual([950_000, 65_000]);
  });

  test('was alive until its own last event, even if the clocks of machines differ', () => {
    const { fold, take } = lived();
    take(70_000, 'a_2', 'message.sent');
    take(900_000, 'a_1', 'epoch.began', { epoch: 2 });
    take(30_000, 'a_2', 'message.sent');
    expect(lostAt(fold).at(1)).toBe(900_000);
    const early = lived();
    early.take(70_000, 'a_2', 'message.sent');
    early.take(20_000, 'a_1', 'epoch.began', { epoch: 2 });
    early.take(30_000, 'a_2', 'message.sent');
    expect(lostAt(early.fold).at(1)).toBe(70_000);
  });
});
