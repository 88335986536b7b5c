import { describe, expect, test } from 'vitest';
import { TaskMessages } from '../../../../src/sdk/api/messages/task-messages.js';
import {
  childEnded,
  childReport,
  childSays,
  childTag,
  childUses,
  spawned,
} from '../../../fakes/agents/child-agents.js';

/** Task messages with a clock that the test moves. */
const openMessages = () => {
  let now = 0;
  const messages = new TaskMessages(
    's_1',
    () => now,
    () => new Date('2026-11-18T12:00:00Z'),
  );
  const wait = (ms: number) => {
    now += ms;
  };
  return { messages, wait };
};

const AGENT = {
  task_id: 'ag_1',
  tool_use_id: 'toolu_1',
  description: 'Find the parser',
  subagent_type: 'explorer',
  parent_task_id: null,
  timestamp: '2026-11-18T12:00:00.000Z',
  session_id: 's_1',
  uuid: expect.stringMatching(/^[\w-]{36}$/),
};

describe('task messages', () => {
  test('have a cost estimate before many agents start', () => {
    const preview = { count: 12, model: 'm', withCache: [0.1, 0.2], withoutCache: [1, 2] } as const;
    expect(openMessages().messages.take({ type: 'fan-out.previewed', preview })).toEqual({
      type: 'system',
      subtype: 'task_preview',
      count: 12,
      model: 'm',
      session_id: 's_1',
      uuid: expect.stringMatching(/^[\w-]{36}$/),
      cost_usd: [0.1, 0.2],
      uncached_cost_usd: [1, 2],
    });
  });

  test('report the start of an agent, its parent and its prompt', () => {
    const { messages } = openMessages();
    expect(messages.take(spawned())).toEqual({
      type: 'system',
      subtype: 'task_started',
      ...AGENT,
      task_type: 'sync',
      model: 'claude-sonnet-5',
      is_queued: false,
      prompt: 'Look for it.',
    });
    const fork = childTag({ type: null, kind: 'fork', name: 'second', depth: 2, parent: 'ag_1' });
    expect(messages.take(spawned(fork, true))).toMatchObject({
      subagent_type: null,
      task_type: 'fork',
      name: 'second',
      is_queued: true,
      parent_task_id: 'ag_1',
    });
  });

  test('report progress at the end of a turn, at most once per second', () => {
    const { messages, wait } = openMessages();
    messages.take(spawned());
    wait(300);
    expect(messages.take(childUses('Grep'))).toBeUndefined();
    expect(messages.take(childSays())).toEqual({
      type: 'system',
      subtype: 'task_progress',
      ...AGENT,
      num_turns: 1,
      usage: { total_tokens: 1_010, tool_uses: 1, duration_ms: 300 },
      cost_usd: expect.closeTo(0.0021, 6),
      last_tool_name: 'Grep',
    });
    wait(999);
    expect(messages.take(childSays())).toBeUndefined();
    wait(1);
    expect(messages.take(childSays())).toMatchObject({
      num_turns: 3,
      usage: { total_tokens: 3_030 },
    });
  });

  test('report the outcome of a worktree', () => {
    const { messages } = openMessages();
    const conflicts = [{ path: 'a.ts', why: 'both sides have changed it' }];
    const worktree = {
      path: '/s/w/a',
      branch: 'agent/a',
      top: '/w',
      diff: '/s/a.diff',
      outcome: { kind: 'conflict' as const, files: ['a.ts', 'b.ts'], commit: 'c', conflicts },
    };
    expect(messages.take(childEnded(childReport({ worktree })))).toMatchObject({
      worktree: {
        outcome: 'conflict',
        branch: 'agent/a',
        path: '/s/w/a',
        diff: '/s/a.diff',
        conflicts: ['a.ts'],
      },
    });
  });

  test('report the end of an agent', () => {
    const { messages, wait } = openMessages();
    messages.take(spawned());
    messages.take(childUses('Read'));
    wait(50);
    expect(messages.take(childEnded(childReport({ changedFiles: ['/w/a.ts'] })))).toEqual({
      type: 'system',
      subtype: 'task_notification',
      ...AGENT,
      status: 'completed',
      stop_reason: 'end_turn',
      summary: 'It is in src/parser.ts:12.',
      usage: { total_tokens: 4_567, tool_uses: 1, duration_ms: 50 },
      num_turns: 3,
      cost_usd: 0.0123,
      changed_files: ['/w/a.ts'],
    });
  });

  test.each([
    ['stopped', 'stopped', null],
    ['interrupted', 'stopped', null],
    ['max_turns', 'failed', null],
    ['budget', 'failed', 'The budget is used up.'],
  ] as const)('names an end by %s %s', (reason, status, detail) => {
    const { messages } = openMessages();
    expect(messages.take(childEnded(childReport({}, { reason, detail })))).toMatchObject({
      status,
      stop_reason: reason,
      ...(detail !== null && { detail }),
    });
  });

  test('cut long prompts and reports', () => {
    const { messages } = openMessages();
    const report = childReport({ text: 'x'.repeat(1e6), changedFiles: Array(1_000).fill('/w/a') });
    expect(JSON.stringify(messages.take(childEnded(report))).length).toBeLessThan(15_000);
  });

  test('have no cost if a price is unknown', () => {
    const { messages } = openMessages();
    const strange = childSays();
    if (strange.type === 'agent.feed') Object.assign(strange.item, { model: 'goose-1' });
    expect(messages.take(strange)).toMatchObject({ cost_usd: null });
  });
});
