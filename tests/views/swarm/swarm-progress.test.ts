import { describe, expect, test } from 'vitest';
import type { AgentView } from '../../../src/views/swarm/agent-view.js';
import type { WaitKind } from '../../../src/views/swarm/agent-wait.js';
import { swarmProgress } from '../../../src/views/swarm/swarm-progress.js';
import { agentView } from '../../fakes/agents/agent-views.js';

const agent = (more: Partial<AgentView> = {}): AgentView =>
  agentView('a_1', {
    state: 'tool-running',
    turns: 1,
    inputTokens: 10,
    outputTokens: 5,
    costUsd: 0.25,
    ...more,
  });
const waits = (kind: WaitKind, more: Partial<AgentView> = {}) =>
  agent({ wait: { kind, detail: null, since: 0, agents: [], count: 1 }, ...more });
const ended = (reason: string, status: AgentView['status'] = 'ended') =>
  agent({ status, state: 'stopped', stop: { reason, detail: null } });
const mainOf = (...kinds: readonly WaitKind[]) =>
  swarmProgress({ agents: kinds.map((kind) => waits(kind)) }, 0).mainWait;

describe('the progress of a swarm', () => {
  test('counts every agent once', () => {
    const agents = [
      agent(),
      waits('model', { state: 'streaming' }),
      waits('child'),
      waits('permission'),
      agent({ status: 'idle', state: 'idle' }),
      agent({ state: 'idle' }),
      ended('end_turn'),
      agent({ status: 'ended', state: 'stopped' }),
      ended('max_turns'),
      ended('interrupted'),
      ended('stopped', 'stopped'),
      agent({ status: 'lost', state: 'lost' }),
      waits('place', { status: 'queued', state: 'queued' }),
      agent({ status: 'queued', state: 'queued' }),
    ];
    const progress = swarmProgress({ agents }, 0);
    expect(progress).toMatchObject({
      done: 2,
      running: 2,
      waiting: 2,
      queued: 2,
      resting: 2,
      failed: 1,
      stopped: 2,
      lost: 1,
      tokens: 15 * agents.length,
      costUsd: 0.25 * agents.length,
    });
    expect([...progress.waits]).toEqual([
      ['child', 1],
      ['permission', 1],
      ['place', 1],
    ]);
  });

  test('names the most frequent wait, and prefers a wait that a person can end', () => {
    expect(mainOf()).toBeNull();
    expect(mainOf('rate-limit', 'permission', 'rate-limit')).toBe('rate-limit');
    expect(mainOf('rate-limit', 'permission')).toBe('permission');
    expect(mainOf('child', 'child', 'retry')).toBe('retry');
    expect(mainOf('child', 'child')).toBe('child');
    expect(mainOf('model')).toBeNull();
  });

  test('has no cost if a price is unknown', () => {
    expect(swarmProgress({ agents: [agent(), agent({ costUsd: null })] }, 0).costUsd).toBeNull();
  });

  test('includes the remaining budget and the rate at the given time', () => {
    const rate = { turnsPerMinute: 7, tokensPerMinute: 8, usdPerMinute: null };
    const budget = { usd: 3, tokens: null };
    const asked: number[] = [];
    const throughput = {
      at(now: number) {
        asked.push(now);
        return rate;
      },
    };
    expect(swarmProgress({ agents: [], budget, throughput }, 42)).toMatchObject({
      budget,
      rate,
    });
    expect(asked).toEqual([42]);
    expect(swarmProgress({ agents: [] }, 0)).toMatchObject({
      budget: { usd: null, tokens: null },
      rate: { turnsPerMinute: 0 },
    });
  });
});
