import { describe, expect, test } from 'vitest';
import {
  agentInHand,
  callEnded,
  drafted,
  ended,
  failed,
  pauseOver,
  prompt,
  ruled,
  taken,
} from './agent-in-hand.js';

describe('a failure that may pass', () => {
  test.each(['rate-limited', 'overloaded', 'server', 'dropped', 'stalled', 'unreachable'] as const)(
    '(%s) is retried after a pause, as the same turn',
    (kind) => {
      const agent = agentInHand();
      agent.tell(taken(), failed(kind), pauseOver, ended());
      expect(agent.visited).toEqual(['streaming', 'retrying', 'streaming', 'stopped']);
      expect(agent.turns.map(({ turn, attempt }) => [turn, attempt])).toEqual([
        [1, 1],
        [1, 2],
      ]);
      expect(agent.stopReason()).toBe('end_turn');
    },
  );

  test('is retried as often as the limit allows, and no more', () => {
    const agent = agentInHand({ limits: { maxRetries: 2 } });
    agent.tell(failed('server'), pauseOver, failed('dropped'), pauseOver);
    expect(agent.pauses.map(({ retries }) => retries)).toEqual([1, 2]);
    agent.tell(failed('server'));
    expect(agent.state).toBe('stopped');
    expect(agent.actor.getSnapshot().output?.stop).toEqual({
      reason: 'model_error',
      detail: 'It was server.',
    });
  });

  test('is not retried at all where no retries are allowed', () => {
    const agent = agentInHand({ limits: { maxRetries: 0 } });
    agent.tell(failed('server'));
    expect(agent.visited).toEqual(['streaming', 'stopped']);
  });

  test('is forgotten as soon as a turn ends', () => {
    const agent = agentInHand({ limits: { maxRetries: 1 } });
    agent.tell(taken(), failed('server'), pauseOver, ended('pause_turn'), failed('server'));
    expect(agent.state).toBe('retrying');
    expect(agent.pauses.at(-1)?.retries).toBe(1);
  });

  test('pauses for as long as the server asked', () => {
    const agent = agentInHand();
    agent.tell(failed('rate-limited', { retryAfterMs: 7_000 }));
    expect(agent.pauses).toMatchObject([{ retries: 1, retryAfterMs: 7_000 }]);
  });

  test('makes the calls of the attempt void', () => {
    const agent = agentInHand();
    agent.tell(taken(), drafted('c1'), ruled('c1'), drafted('c2'), failed('dropped'));
    expect(agent.orders.at(-1)).toBe('calls.discard');
    expect(agent.calls()).toEqual({});
    // What the crew had on its lips does not bring them back.
    agent.tell(callEnded('c1'), ruled('c2'));
    expect(agent.calls()).toEqual({});
    expect(agent.state).toBe('retrying');
    agent.tell(pauseOver, drafted('c1'), ruled('c1'), ended('tool_use'), callEnded('c1'), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });
});

describe('a failure that will not pass', () => {
  test.each(['rejected', 'unauthorised'] as const)('(%s) ends the run at once', (kind) => {
    const agent = agentInHand();
    agent.tell(taken(), drafted('c1'), ruled('c1'), failed(kind));
    expect(agent.visited).toEqual(['streaming', 'stopped']);
    expect(agent.stopReason()).toBe('model_error');
    expect(agent.orders.at(-1)).toBe('calls.discard');
  });
});

describe('the fallback model', () => {
  const overloaded = failed('overloaded');

  test('takes over after overloads in a row, and stays', () => {
    const agent = agentInHand({ hasFallback: true, limits: { overloadsBeforeFallback: 2 } });
    agent.tell(taken(), overloaded, pauseOver, overloaded, pauseOver, ended('pause_turn'));
    expect(agent.turns.map(({ onFallback }) => onFallback)).toEqual([false, false, true, true]);
  });

  test('has its own retries', () => {
    const limits = { overloadsBeforeFallback: 1, maxRetries: 1 };
    const agent = agentInHand({ hasFallback: true, limits });
    agent.tell(overloaded, pauseOver, overloaded, pauseOver);
    expect(agent.turns.map(({ onFallback }) => onFallback)).toEqual([false, true, true]);
    agent.tell(overloaded);
    expect(agent.stopReason()).toBe('model_error');
  });

  test('is not called for other failures, nor for overloads apart', () => {
    const agent = agentInHand({ hasFallback: true, limits: { overloadsBeforeFallback: 2 } });
    agent.tell(overloaded, pauseOver, failed('server'), pauseOver, overloaded, pauseOver);
    expect(agent.turns.some(({ onFallback }) => onFallback)).toBe(false);
  });

  test('cannot take over where there is none', () => {
    const agent = agentInHand({ limits: { overloadsBeforeFallback: 1, maxRetries: 3 } });
    agent.tell(overloaded, pauseOver, overloaded, pauseOver, overloaded, pauseOver, overloaded);
    expect(agent.turns.some(({ onFallback }) => onFallback)).toBe(false);
    expect(agent.stopReason()).toBe('model_error');
  });
});

describe('an answer that the output limit cut', () => {
  test('is continued', () => {
    const agent = agentInHand();
    agent.tell(taken(), ended('max_tokens'));
    expect(agent.turns.map(({ cutShort }) => cutShort)).toEqual([false, true]);
    agent.tell(taken(0), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('is continued a bounded number of times', () => {
    const agent = agentInHand({ limits: { maxContinuations: 2 } });
    const cut = [taken(0), ended('max_tokens')];
    agent.tell(taken(), ended('max_tokens'), ...cut, ...cut);
    expect(agent.turns).toHaveLength(3);
    expect(agent.actor.getSnapshot().output?.stop).toMatchObject({
      reason: 'model_error',
      detail: expect.stringContaining('output limit'),
    });
  });

  test('is forgotten as soon as an answer is whole', () => {
    const agent = agentInHand({ limits: { maxContinuations: 1 } });
    const cutAndWhole = [ended('max_tokens'), taken(0), drafted('c1'), ruled('c1')];
    agent.tell(taken(), ...cutAndWhole, ended('tool_use'), callEnded('c1'));
    agent.tell(taken(0), ended('max_tokens'));
    expect(agent.state).toBe('streaming');
    expect(agent.turns.at(-1)?.cutShort).toBe(true);
  });

  test('that the model pauses is gone on with a bounded number of times', () => {
    const agent = agentInHand({ limits: { maxPauses: 2 } });
    agent.tell(taken(), ended('pause_turn'), ended('pause_turn'), ended('pause_turn'));
    expect(agent.turns).toHaveLength(3);
    expect(agent.actor.getSnapshot().output?.stop).toMatchObject({
      reason: 'model_error',
      detail: expect.stringContaining('paused'),
    });
  });

  test('is continued by the results of its calls, where it has some', () => {
    const agent = agentInHand({ limits: { maxContinuations: 0 } });
    agent.tell(taken(), drafted('c'), ruled('c'), ended('max_tokens'), callEnded('c'));
    expect(agent.turns.map(({ cutShort }) => cutShort)).toEqual([false, false]);
  });

  test('is continued by a letter, where one waits', () => {
    const agent = agentInHand();
    agent.tell(taken(), prompt, ended('max_tokens'), taken(), ended());
    expect(agent.stopReason()).toBe('end_turn');
    expect(agent.turns).toHaveLength(2);
  });
});

describe('a prompt that is too long', () => {
  const tooLong = failed('prompt-too-long', { gapTokens: 500 });

  test('is made shorter by the gap that the server named, and sent again', () => {
    const agent = agentInHand();
    agent.tell(taken(), tooLong);
    expect(agent.state).toBe('compacting');
    expect(agent.rooms).toEqual([{ why: 'refused', gapTokens: 500 }]);
    agent.tell({ type: 'context.compacted' }, ended());
    expect(agent.visited).toEqual(['streaming', 'compacting', 'streaming', 'stopped']);
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('is made shorter a bounded number of times', () => {
    const agent = agentInHand({ limits: { maxCompactions: 2 } });
    const compacted = { type: 'context.compacted' } as const;
    agent.tell(taken(), tooLong, compacted, tooLong, compacted, tooLong);
    expect(agent.rooms).toHaveLength(2);
    expect(agent.actor.getSnapshot().output?.stop).toEqual({
      reason: 'compaction_failed',
      detail: 'It was prompt-too-long.',
    });
  });

  test('ends the run when nothing can be dropped', () => {
    const agent = agentInHand();
    agent.tell(tooLong, { type: 'compaction.failed', detail: 'Nothing is left to drop.' });
    expect(agent.actor.getSnapshot().output?.stop).toEqual({
      reason: 'compaction_failed',
      detail: 'Nothing is left to drop.',
    });
  });

  test('does not use up the last turn that the run has', () => {
    const agent = agentInHand({ limits: { maxTurns: 1 } });
    agent.tell(taken(), tooLong);
    expect(agent.state).toBe('compacting');
    agent.tell({ type: 'context.compacted' }, ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('is made shorter after its calls have run, when the window filled while it was answered', () => {
    const agent = agentInHand();
    agent.tell(taken(), drafted('c'), ruled('c'), ended('model_context_window_exceeded'));
    expect(agent.state).toBe('tool-running');
    agent.tell(callEnded('c'));
    expect(agent.state).toBe('compacting');
    expect(agent.rooms).toEqual([{ why: 'refused', gapTokens: null }]);
    agent.tell({ type: 'context.compacted' });
    expect(agent.state).toBe('streaming');
  });
});

describe('a prompt that would be too long', () => {
  const full = { type: 'room.needed', gapTokens: 70 } as const;
  const declined = { type: 'compaction.declined' } as const;

  test('is shortened before it is sent, as the same turn', () => {
    const agent = agentInHand({ limits: { maxTurns: 1 } });
    agent.tell(taken(), full);
    expect(agent.rooms).toEqual([{ why: 'full', gapTokens: 70 }]);
    agent.tell({ type: 'context.compacted' }, ended());
    expect(agent.visited).toEqual(['streaming', 'compacting', 'streaming', 'stopped']);
    expect(agent.turns.map(({ turn, attempt }) => [turn, attempt])).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  test('is sent as it is when no room was made', () => {
    const agent = agentInHand();
    agent.tell(taken(), full, declined);
    expect(agent.turns.map(({ mayCompact }) => mayCompact)).toEqual([true, false]);
  });

  test('is tried to be shortened for three turns, and then no more (X5)', () => {
    const agent = agentInHand({ staysIdle: true });
    for (const _ of [1, 2, 3]) agent.tell(prompt, full, declined, taken(), ended());
    agent.tell(prompt);
    expect(agent.rooms).toHaveLength(3);
    expect(agent.turns.at(-1)?.mayCompact).toBe(false);
  });

  test('is tried to be shortened whatever came of what a person asked for', () => {
    const agent = agentInHand({ staysIdle: true });
    agent.tell(taken(), ended());
    for (const _ of [1, 2, 3]) agent.tell({ type: 'context.compact' }, declined);
    expect(agent.rooms).toHaveLength(3);
    agent.tell(prompt);
    expect(agent.turns.at(-1)?.mayCompact).toBe(true);
  });

  test('is tried anew once a summary has worked', () => {
    const agent = agentInHand({ staysIdle: true });
    for (const _ of [1, 2]) agent.tell(prompt, full, declined, taken(), ended());
    agent.tell(prompt, full, { type: 'context.compacted' }, taken(), ended());
    for (const _ of [1, 2]) agent.tell(prompt, full, declined, taken(), ended());
    agent.tell(prompt);
    expect(agent.turns.at(-1)?.mayCompact).toBe(true);
  });

  test('is shortened once for a turn, even when what is left is still too long', () => {
    const agent = agentInHand();
    agent.tell(taken(), full, { type: 'context.compacted' });
    expect(agent.turns.map(({ mayCompact }) => mayCompact)).toEqual([true, false]);
  });
});

describe('a refusal', () => {
  test('with open calls has them answered as interrupted, and starts none', () => {
    const agent = agentInHand();
    agent.tell(taken(), drafted('c1'), ruled('c1', 'writes'), drafted('c2'), ended('refusal'));
    expect(agent.state).toBe('tool-running');
    expect(agent.orders).toEqual(['call.judge c1', 'call.judge c2', 'calls.interrupt']);
    agent.tell(callEnded('c1'), callEnded('c2'));
    expect(agent.orders.at(-1)).toBe('calls.yield');
    expect(agent.stopReason()).toBe('refusal');
    expect(agent.state).toBe('stopped');
  });
});

describe('a prompt that had to be cut', () => {
  test('may be cut as often again once a turn has ended', () => {
    const agent = agentInHand({ limits: { maxCompactions: 1 } });
    const tooLong = [failed('prompt-too-long'), { type: 'context.compacted' } as const];
    agent.tell(taken(), ...tooLong, ended('pause_turn'), ...tooLong);
    expect(agent.rooms).toHaveLength(2);
    expect(agent.state).toBe('streaming');
    agent.tell(failed('prompt-too-long'));
    expect(agent.stopReason()).toBe('compaction_failed');
  });
});
