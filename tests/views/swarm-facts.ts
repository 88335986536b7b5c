/** Events of invented swarms, and the report about them. */

import type { SessionMeta } from '../../src/protocol/session/session-store.js';
import type { SwarmEvent } from '../../src/protocol/session/swarm-event.js';
import {
  ReportFold,
  type ReportOptions,
  type SwarmReport,
} from '../../src/views/report/swarm-report.js';

export type Fact = Partial<SwarmEvent> & Pick<SwarmEvent, 'type' | 'ts'>;

export const MODEL = 'claude-sonnet-4-5';

export const SESSION: SessionMeta = {
  format: 1,
  id: 's_1',
  cwd: '/work',
  createdAt: 0,
  updatedAt: 0,
  lead: 'a_1',
  model: MODEL,
  version: '0.1.0',
  entrypoint: 'cli',
  parentId: null,
  title: 'Mend the roof',
};

/** An event without an agent belongs to the lead, `a_1`. */
export const eventsOf = (facts: readonly Fact[]): readonly SwarmEvent[] =>
  facts.map((fact, index) => {
    const head = { v: 1, seq: index + 1, swarm: 's_1', agent: 'a_1', parent: null } as const;
    return { ...head, cites: { seq: index + 1 }, ...fact };
  });

export const reportOf = (
  facts: readonly Fact[],
  options: Partial<ReportOptions> = {},
): SwarmReport => {
  const fold = new ReportFold(SESSION);
  for (const event of eventsOf(facts)) fold.take(event);
  return fold.report({ isHeld: false, jobs: [], now: 0, ...options });
};

/** Short functions for events with a time. */
export const factsOf = () => {
  const of = (agent = 'a_1') => ({ agent, parent: agent === 'a_1' ? null : 'a_1' });
  const usage = { input: 10, output: 5, cacheRead: 800, cacheWrite5m: 100, cacheWrite1h: 0 };
  const turn = { turn: 1, attempt: 1, model: MODEL };
  return {
    begun: (ts: number): readonly Fact[] => [
      { type: 'agent.spawned', ts, model: MODEL, cwd: '/work' },
      { type: 'epoch.began', ts, epoch: 1 },
      { type: 'run.started', ts, run: 1 },
    ],
    taken: (ts: number, agent?: string): Fact => ({
      type: 'epoch.began',
      ts,
      epoch: 2,
      ...of(agent),
    }),
    started: (ts: number, agent?: string): Fact => ({
      type: 'turn.started',
      ts,
      ...turn,
      ...of(agent),
    }),
    ended: (ts: number, stopReason: string, agent?: string): Fact => ({
      type: 'turn.ended',
      ts,
      ...turn,
      stopReason,
      usage,
      cost: 0.001,
      ...of(agent),
    }),
    tool: (
      type: 'tool.started' | 'tool.ended',
      ts: number,
      call: string,
      agent?: string,
    ): Fact => ({
      type,
      ts,
      call,
      tool: 'Bash',
      description: `Bash ${call}`,
      ...of(agent),
    }),
    asked: (ts: number, call: string, agent?: string): Fact => ({
      type: 'permission.requested',
      ts,
      call,
      tool: 'Bash',
      question: `q_${call}`,
      ...of(agent),
      description: 'Bash rm',
      reason: 'No rule allows it.',
    }),
    ruled: (ts: number, call: string, behavior: string, more: object = {}): Fact => ({
      type: 'permission.ruled',
      ts,
      call,
      tool: 'Bash',
      behavior,
      step: 'callback',
      ...more,
    }),
    requested: (ts: number, child: string): Fact => ({
      type: 'agent.requested',
      ts,
      child,
      kind: 'sync',
      agentType: 'explorer',
      description: 'look',
    }),
    spawned: (ts: number, agent: string): Fact => ({
      type: 'agent.spawned',
      ts,
      ...of(agent),
      model: MODEL,
      origin: { kind: 'sync', type: 'explorer', description: 'look', depth: 1 },
    }),
    over: (
      ts: number,
      agent?: string,
      type: 'agent.stopped' | 'run.ended' = 'agent.stopped',
    ): Fact => ({
      type,
      ts,
      reason: 'end_turn',
      detail: null,
      turns: 1,
      ...of(agent),
    }),
  };
};

/** Agents that all work at the same time, in turns of different lengths. */
export const swarmOf = (agents: number, turns = 5): readonly Fact[] => {
  const { begun, requested, spawned, started, ended, tool, over } = factsOf();
  const work = (agent: string, from: number) =>
    Array.from({ length: turns }, (_, turn) => {
      const ts = from + turn * 100;
      const call = `c_${agent}_${turn}`;
      const [think, act] = [30 + ((turn * 7) % 20), 60 + ((turn * 13) % 30)];
      return [
        started(ts, agent),
        ended(ts + think, turn === turns - 1 ? 'end_turn' : 'tool_use', agent),
        tool('tool.started', ts + think, call, agent),
        tool('tool.ended', ts + act, call, agent),
      ];
    }).flat();
  const children = Array.from({ length: agents - 1 }, (_, at) => {
    const id = `a_${at + 2}`;
    const end = 10 + at + turns * 100;
    return [requested(5, id), spawned(10 + at, id), ...work(id, 10 + at), over(end, id)];
  }).flat();
  const facts = [...begun(0), ...work('a_1', 0), ...children, over(turns * 100 + agents + 100)];
  return facts.toSorted((a, b) => a.ts - b.ts);
};
