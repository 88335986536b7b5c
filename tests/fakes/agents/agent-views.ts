/** Views of agents and swarms for screen tests, with default values. */
import type { SessionMeta } from '../../../src/protocol/session/session-store.js';
import type { AgentView, SwarmView } from '../../../src/views/swarm/swarm-view.js';

/** Start time of all views. */
export const BEGAN = Date.UTC(2026, 10, 17, 12);

export const agentView = (id: string, more: Partial<AgentView> = {}): AgentView => ({
  id,
  name: null,
  kind: 'sync',
  type: 'explorer',
  parent: 'a_lead',
  depth: 1,
  description: `the task of ${id}`,
  model: 'claude-opus-4-5',
  status: 'running',
  state: 'streaming',
  waitsFor: null,
  wait: null,
  worker: null,
  refusal: null,
  hasLostWorker: false,
  turns: 3,
  inputTokens: 12_000,
  outputTokens: 345,
  contextTokens: 4_200,
  cacheReadPercent: 83.4,
  costUsd: 0.25,
  calls: [],
  questions: [],
  since: BEGAN,
  lastActiveAt: BEGAN,
  endedAt: null,
  lostAt: null,
  stop: null,
  ...more,
});

export const leadView = (more: Partial<AgentView> = {}): AgentView =>
  agentView('a_lead', { kind: 'lead', type: null, parent: null, depth: 0, ...more });

/** State of an agent that asks for permission to run a command. */
export const asking = (command: string): Partial<AgentView> => {
  const description = `Bash ${command}`;
  const seen = { call: 'c_1', tool: 'Bash', description, since: BEGAN };
  return {
    state: 'awaiting-permission',
    questions: [{ ...seen, question: 'q_abcdef' }],
    wait: { kind: 'permission', detail: description, since: BEGAN, agents: [], count: 1 },
  };
};

export const ended = (reason: string, detail: string | null = null): Partial<AgentView> => ({
  status: 'ended',
  state: 'stopped',
  lastActiveAt: BEGAN + 5_000,
  endedAt: BEGAN + 5_000,
  stop: { reason, detail },
});

export const swarmView = (
  agents: readonly AgentView[],
  { id = 's_one', ...more }: Partial<SessionMeta> = {},
): SwarmView => ({
  session: {
    id,
    lead: 'a_lead',
    title: 'mend the tests',
    model: 'claude-opus-4-5',
    createdAt: BEGAN - 60_000,
    updatedAt: BEGAN,
    format: 1,
    cwd: '/w',
    version: '0',
    entrypoint: 'cli',
    parentId: null,
    ...more,
  },
  holder: { pid: 77, host: 'here' },
  agents,
});
