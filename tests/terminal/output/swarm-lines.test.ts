import { describe, expect, test } from 'vitest';
import type { AgentTag } from '../../../src/protocol/agent/agent-tag.js';
import type { FeedItem } from '../../../src/protocol/session/feed.js';
import { SwarmLines, waitingText } from '../../../src/terminal/output/swarm-lines.js';
import {
  childEnded,
  childReport,
  childSays,
  childTag,
  childUses,
  fed,
  spawned,
} from '../../fakes/agents/child-agents.js';

/** Lines of a swarm; `wait` shows the current batch. */
const watch = (isVerbose = false) => {
  const lines: string[] = [];
  let due: (() => void)[] = [];
  const swarm = new SwarmLines({
    isVerbose,
    show: ({ text, isAlarming }) => lines.push(`${isAlarming ? '! ' : ''}${text}`),
    schedule: (work) => due.push(work),
  });
  const wait = () => {
    const works = due;
    due = [];
    for (const work of works) work();
    return lines.splice(0);
  };
  return { swarm, wait };
};

const agents = (count: number, change: Partial<AgentTag> = {}): readonly AgentTag[] =>
  Array.from({ length: count }, (_, n) =>
    childTag({ id: `a_${n}`, call: `toolu_${n}`, ...change }),
  );

describe('the lines about child agents', () => {
  test('show the task of an agent, its outcome and its cost', () => {
    const { swarm, wait } = watch();
    swarm.receive(spawned());
    expect(wait()).toEqual(['  explorer ag_1 started: Find the parser']);
    swarm.receive(childEnded(childReport({ changedFiles: ['/w/a', '/w/b'] })));
    expect(wait()).toEqual(['  explorer ag_1 done, 3 turns, $0.0123, 2 files changed']);
  });

  test('show the branch of work that was not merged', () => {
    const { swarm, wait } = watch();
    swarm.receive(spawned());
    wait();
    const worktree = {
      path: '/s/w/a',
      branch: 'agent/a',
      top: '/w',
      outcome: { kind: 'kept' as const, why: 'The disk is full.' },
    };
    swarm.receive(childEnded(childReport({ worktree })));
    expect(wait()).toEqual([
      '  explorer ag_1 done, 3 turns, $0.0123, not merged: it is on the branch agent/a',
    ]);
  });

  test('show queued agents, names and the parents of an agent', () => {
    const { swarm, wait } = watch();
    const fork = childTag({ type: null, name: 'scout', depth: 2, parent: 'ag_1', id: 'ag_2' });
    swarm.receive(spawned());
    swarm.receive(spawned(fork, true));
    expect(wait()).toEqual([
      '  explorer ag_1 started: Find the parser',
      '    fork scout waits for a slot: Find the parser',
    ]);
    expect(swarm.purposeOf('ag_2')).toBe('the lead → explorer ag_1, Find the parser');
    expect(swarm.purposeOf('ag_1')).toBe('the lead, Find the parser');
    expect(swarm.purposeOf('ag_lead')).toBeUndefined();
  });

  test('show why an agent failed, with an alarm mark', () => {
    const { swarm, wait } = watch();
    const stop = { reason: 'budget', detail: 'The budget of $1\nis used up.' } as const;
    swarm.receive(childEnded(childReport({ cost: null }, stop)));
    expect(wait()).toEqual([
      '!   explorer ag_1 failed (budget), 3 turns, cost unknown: The budget of $1 is used up.',
    ]);
  });

  const retry = (agent: AgentTag): FeedItem => ({
    type: 'agent.feed',
    agent,
    item: {
      type: 'notice',
      text: 'Attempt 2 of 11 starts in 1 s. Check the network.',
      retry: { attempt: 2, attempts: 11, durationMs: 500 },
    },
  });

  test.each([false, true])('show the retries of an agent (verbose: %s)', (isVerbose) => {
    const { swarm, wait } = watch(isVerbose);
    swarm.receive(spawned());
    wait();
    for (let n = 0; n < 7; n += 1) swarm.receive(retry(childTag()));
    const line = '  explorer ag_1: Attempt 2 of 11 starts in 1 s. Check the network.';
    expect(wait()).toEqual(Array.from({ length: 7 }, () => line));
  });

  test('show the failed attempts of an agent on a worker', () => {
    const { swarm, wait } = watch();
    swarm.receive(spawned());
    wait();
    const event = { type: 'turn.failed', attempt: 2, message: 'No answer.\nWait.' };
    swarm.receive({ type: 'agent.seen', agent: childTag(), event: event as never });
    expect(wait()).toEqual(['  explorer ag_1: attempt 2 failed: No answer. Wait.']);
  });

  test('show the first retries of a large wave', () => {
    const { swarm, wait } = watch();
    const wave = agents(50);
    for (const agent of wave) swarm.receive(spawned(agent));
    wait();
    for (const agent of wave) swarm.receive(retry(agent));
    expect(wait()).toHaveLength(5);
  });

  test('omit calls and notices of agents unless verbose', () => {
    const items = [childUses('Grep'), childSays(), fed({ type: 'notice', text: 'Slow.' })];
    const [quiet, loud] = [watch(), watch(true)];
    for (const item of items) {
      quiet.swarm.receive(item);
      loud.swarm.receive(item);
    }
    expect(quiet.wait()).toEqual([]);
    expect(loud.wait()).toEqual(['    explorer ag_1: Grep x', '    explorer ag_1: Slow.']);
  });

  test('are summarised for a hundred agents', () => {
    const { swarm, wait } = watch();
    const lines: string[] = [];
    const all = [...agents(90), ...agents(10, { type: null, kind: 'fork' })].map((agent, n) => ({
      ...agent,
      id: `a_${n}`,
      call: `toolu_${n}`,
    }));
    for (const [n, agent] of all.entries()) swarm.receive(spawned(agent, n >= 20));
    lines.push(...wait());
    for (const agent of all) {
      swarm.receive(childEnded(childReport({ agent, cost: 0.01 })));
      lines.push(...wait());
    }
    expect(lines[0]).toBe('  90 explorers and 10 forks started, 80 of them wait for a slot');
    expect(lines[4]).toBe('  40 of 100 agents done; 120 turns, $0.4000');
    expect(lines.at(-1)).toBe('  100 of 100 agents done; 300 turns, $1.00');
    expect(lines).toHaveLength(11);
  });

  test('name some of many failures and count all of them', () => {
    const { swarm, wait } = watch();
    const all = agents(40);
    for (const agent of all) swarm.receive(spawned(agent));
    wait();
    const stop = { reason: 'model_error', detail: 'Down.' } as const;
    for (const agent of all) swarm.receive(childEnded(childReport({ agent }, stop)));
    const lines = wait();
    expect(lines).toHaveLength(6);
    expect(lines[0]).toBe('!   explorer a_0 failed (model_error), 3 turns, $0.0123: Down.');
    expect(lines[5]).toBe('  40 of 40 agents done, 40 of them failed; 120 turns, $0.4920');
  });

  test('restart the count when no agent is left', () => {
    const { swarm, wait } = watch();
    for (const round of [1, 2]) {
      const all = agents(20, { description: `Round ${round}` });
      for (const agent of all) swarm.receive(spawned(agent));
      for (const agent of all) swarm.receive(childEnded(childReport({ agent, cost: 0 })));
      expect(wait().at(-1)).toBe('  20 of 20 agents done; 60 turns, $0.0000');
    }
  });

  test('neutralise control characters and line breaks of names and descriptions', () => {
    const { swarm, wait } = watch();
    swarm.receive(spawned(childTag({ name: 'x\u001b[2J', description: 'a\n(Done.)' })));
    expect(wait()).toEqual(['  explorer x^[[2J started: a (Done.)']);
  });

  test('show the cost estimate of a large fan-out', () => {
    const { swarm, wait } = watch();
    swarm.receive({
      type: 'fan-out.previewed',
      preview: { count: 20, model: 'm', withCache: [0.1, 0.4], withoutCache: [1.2, 2] },
    });
    expect(wait()).toEqual([
      '(20 agents on m: $0.1000 to $0.4000 with the cache, $1.20 to $2.00 without.)',
    ]);
    const unknown = { count: 20, model: 'm, n', withCache: null, withoutCache: null };
    swarm.receive({ type: 'fan-out.previewed', preview: unknown });
    expect(wait()).toEqual([
      '(20 agents on m, n: cost unknown, because a model has no known price.)',
    ]);
  });
});

describe('a waiting run', () => {
  test('names the background agents', () => {
    const { swarm } = watch();
    for (const agent of agents(5, { kind: 'background' })) swarm.receive(spawned(agent));
    swarm.receive(childEnded(childReport({ agent: childTag({ id: 'a_0' }) })));
    expect(waitingText(swarm.backgroundAgents())).toBe(
      'Waiting for 4 background agents: explorer a_1, explorer a_2, explorer a_3, 1 more.',
    );
  });
});
