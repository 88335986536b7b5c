import { expect, test } from 'vitest';
import type { AgentTag } from '../../../src/protocol/agent/agent-tag.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import type { SwarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { LiveAgents } from '../../../src/ui/session/live-agents.js';

const agent: AgentTag = {
  id: 'a_1',
  parent: 'a_0',
  kind: 'background',
  type: 'helper',
  description: 'Look',
  call: 'toolu_1',
  depth: 1,
};

const seen = (type: SwarmEvent['type'], more: object = {}, worker?: string): FeedItem => ({
  type: 'agent.seen',
  agent,
  event: {
    v: 1,
    seq: 1,
    ts: 0,
    swarm: 's',
    agent: 'a_1',
    parent: 'a_0',
    type,
    cites: { seq: 1 },
    ...more,
  },
  ...(worker !== undefined && { worker }),
});

test('an agent on a worker is shown as it is queued, taken, working and returned', () => {
  const live = new LiveAgents(() => 0);
  const shown = (item: FeedItem) => {
    live.receive(item);
    const [{ doing, isQueued, isAsking } = {}] = live.agents;
    return [doing, isQueued, isAsking];
  };
  const spawned = { type: 'agent.spawned', agent, model: 'm', prompt: 'Look' } as const;
  expect(shown({ ...spawned, isQueued: true, awaits: 'worker' })).toEqual([
    'queued for a worker',
    true,
    false,
  ]);
  expect(shown(seen('epoch.began', {}, 'o_7.12.34'))).toEqual(['runs on worker o_7', false, false]);
  expect(shown(seen('turn.started'))).toEqual(['streaming', false, false]);
  expect(shown(seen('tool.started', { description: 'Bash ls' }))).toEqual([
    'Bash ls',
    false,
    false,
  ]);
  expect(shown(seen('permission.requested'))).toEqual(['asks', false, true]);
  expect(shown(seen('turn.ended'))).toEqual(['asks', false, true]);
  expect(shown(seen('turn.failed'))).toEqual(['retrying', false, false]);
  const retry = { attempt: 2, attempts: 11, durationMs: 1_500 };
  const retrying = ['retrying, attempt 2 of 11 in 2 s', false, false];
  expect(shown(seen('retry.scheduled', retry))).toEqual(retrying);
  expect(shown(seen('agent.queued', { awaits: 'worker' }))).toEqual([
    'queued for a worker',
    true,
    false,
  ]);
  live.clear();
  expect(live.receive(seen('turn.started'))).toBe(false);
});
