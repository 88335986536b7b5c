import { describe, expect, test } from 'vitest';
import {
  agentHarness,
  callEnded,
  drafted,
  ended,
  failed,
  pauseOver,
  prompt,
  ruled,
  taken,
} from './agent-harness.js';

describe('a transient model failure', () => {
  test.each(['rate-limited', 'overloaded', 'server', 'dropped', 'stalled', 'unreachable'] as const)(
    '(%s) is retried after a pause as a second attempt of the turn',
    (kind) => {
      const agent = agentHarness();
      agent.send(taken(), failed(kind), pauseOver, ended());
      expect(agent.visited).toEqual(['streaming', 'retrying', 'streaming', 'stopped']);
      expect(agent.turns.map(({ turn, attempt }) => [turn, attempt])).toEqual([
        [1, 1],
        [1, 2],
      ]);
      expect(agent.stopReason()).toBe('end_turn');
    },
  );

  test('is retried up to the limit', () => {
    const agent = agentHarness({ limits: { maxRetries: 2 } });
    agent.send(failed('server'), pauseOver, failed('dropped'), pauseOver);
    expect(agent.pauses.map(({ retries }) => retries)).toEqual([1, 2]);
    agent.send(failed('server'));
    expect(agent.state).toBe('stopped');
    expect(agent.actor.getSnapshot().output?.stop).toEqual({
      reason: 'model_error',
      detail: 'It was server.',
    });
  });

  test.each([
    [10, 2],
    [1, 1],
    [0, 0],
  ])('with a cause that hardly passes is retried twice at most (limit %i)', (maxRetries, tries) => {
    const agent = agentHarness({ limits: { maxRetries } });
    for (let sent = 0; sent <= tries; sent += 1) {
      agent.send(failed('unreachable', { isPermanent: true }), pauseOver);
    }
    expect(agent.state).toBe('stopped');
    expect(agent.pauses).toHaveLength(tries);
    expect(agent.pauses.every((pause) => pause.maxRetries === tries)).toBe(true);
  });

  test('is not retried if the limit is zero', () => {
    const agent = agentHarness({ limits: { maxRetries: 0 } });
    agent.send(failed('server'));
    expect(agent.visited).toEqual(['streaming', 'stopped']);
  });

  test('does not count after a turn has ended', () => {
    const agent = agentHarness({ limits: { maxRetries: 1 } });
    agent.send(taken(), failed('server'), pauseOver, ended('pause_turn'), failed('server'));
    expect(agent.state).toBe('retrying');
    expect(agent.pauses.at(-1)?.retries).toBe(1);
  });

  test('passes the retry-after time of the server to the pause', () => {
    const agent = agentHarness();
    agent.send(failed('rate-limited', { retryAfterMs: 7_000 }));
    expect(agent.pauses).toMatchObject([{ retries: 1, retryAfterMs: 7_000 }]);
  });

  test('discards the calls of the attempt', () => {
    const agent = agentHarness();
    agent.send(taken(), drafted('c1'), ruled('c1'), drafted('c2'), failed('dropped'));
    expect(agent.orders.at(-1)).toBe('calls.discard');
    expect(agent.calls()).toEqual({});
    // Late events of the crew do not restore the discarded calls.
    agent.send(callEnded('c1'), ruled('c2'));
    expect(agent.calls()).toEqual({});
    expect(agent.state).toBe('retrying');
    agent.send(pauseOver, drafted('c1'), ruled('c1'), ended('tool_use'), callEnded('c1'), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });
});

describe('a permanent model failure', () => {
  test.each(['rejected', 'unauthorised'] as const)('(%s) ends the run at once', (kind) => {
    const agent = agentHarness();
    agent.send(taken(), drafted('c1'), ruled('c1'), failed(kind));
    expect(agent.visited).toEqual(['streaming', 'stopped']);
    expect(agent.stopReason()).toBe('model_error');
    expect(agent.orders.at(-1)).toBe('calls.discard');
  });
});

describe('the fallback model', () => {
  const overloaded = failed('overloaded');

  test('is used after consecutive overloads, and for all later turns', () => {
    const agent = agentHarness({ hasFallback: true, limits: { overloadsBeforeFallback: 2 } });
    agent.send(taken(), overloaded, pauseOver, overloaded, pauseOver, ended('pause_turn'));
    expect(agent.turns.map(({ onFallback }) => onFallback)).toEqual([false, false, true, true]);
  });

  test('has its own retry count', () => {
    const limits = { overloadsBeforeFallback: 1, maxRetries: 1 };
    const agent = agentHarness({ hasFallback: true, limits });
    agent.send(overloaded, pauseOver, overloaded, pauseOver);
    expect(agent.turns.map(({ onFallback }) => onFallback)).toEqual([false, true, true]);
    agent.send(overloaded);
    expect(agent.stopReason()).toBe('model_error');
  });

  test('is not used after other failures or after overloads that are not consecutive', () => {
    const agent = agentHarness({ hasFallback: true, limits: { overloadsBeforeFallback: 2 } });
    agent.send(overloaded, pauseOver, failed('server'), pauseOver, overloaded, pauseOver);
    expect(agent.turns.some(({ onFallback }) => onFallback)).toBe(false);
  });

  test('is not used if none is configured', () => {
    const agent = agentHarness({ limits: { overloadsBeforeFallback: 1, maxRetries: 3 } });
    agent.send(overloaded, pauseOver, overloaded, pauseOver, overloaded, pauseOver, overloaded);
    expect(agent.turns.some(({ onFallback }) => onFallback)).toBe(false);
    expect(agent.stopReason()).toBe('model_error');
  });
});

describe('an answer that the output limit cut off', () => {
  test('is continued', () => {
    const agent = agentHarness();
    agent.send(taken(), ended('max_tokens'));
    expect(agent.turns.map(({ cutShort }) => cutShort)).toEqual([false, true]);
    agent.send(taken(0), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('is continued up to the limit', () => {
    const agent = agentHarness({ limits: { maxContinuations: 2 } });
    const cut = [taken(0), ended('max_tokens')];
    agent.send(taken(), ended('max_tokens'), ...cut, ...cut);
    expect(agent.turns).toHaveLength(3);
    expect(agent.actor.getSnapshot().output?.stop).toMatchObject({
      reason: 'model_error',
      detail: expect.stringContaining('output limit'),
    });
  });

  test('does not count after a complete answer', () => {
    const agent = agentHarness({ limits: { maxContinuations: 1 } });
    const cutAndWhole = [ended('max_tokens'), taken(0), drafted('c1'), ruled('c1')];
    agent.send(taken(), ...cutAndWhole, ended('tool_use'), callEnded('c1'));
    agent.send(taken(0), ended('max_tokens'));
    expect(agent.state).toBe('streaming');
    expect(agent.turns.at(-1)?.cutShort).toBe(true);
  });

  test('with the stop reason pause_turn is continued up to the limit', () => {
    const agent = agentHarness({ limits: { maxPauses: 2 } });
    agent.send(taken(), ended('pause_turn'), ended('pause_turn'), ended('pause_turn'));
    expect(agent.turns).toHaveLength(3);
    expect(agent.actor.getSnapshot().output?.stop).toMatchObject({
      reason: 'model_error',
      detail: expect.stringContaining('paused'),
    });
  });

  test('is continued with the results of its calls, if any', () => {
    const agent = agentHarness({ limits: { maxContinuations: 0 } });
    agent.send(taken(), drafted('c'), ruled('c'), ended('max_tokens'), callEnded('c'));
    expect(agent.turns.map(({ cutShort }) => cutShort)).toEqual([false, false]);
  });

  test('is continued with a waiting letter', () => {
    const agent = agentHarness();
    agent.send(taken(), prompt, ended('max_tokens'), taken(), ended());
    expect(agent.stopReason()).toBe('end_turn');
    expect(agent.turns).toHaveLength(2);
  });
});

describe('a prompt that is too long', () => {
  const tooLong = failed('prompt-too-long', { gapTokens: 500 });

  test('is compacted by the gap that the server reported, and sent again', () => {
    const agent = agentHarness();
    agent.send(taken(), tooLong);
    expect(agent.state).toBe('compacting');
    expect(agent.compactions).toEqual([{ why: 'refused', gapTokens: 500 }]);
    agent.send({ type: 'context.compacted' }, ended());
    expect(agent.visited).toEqual(['streaming', 'compacting', 'streaming', 'stopped']);
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('is compacted up to the limit', () => {
    const agent = agentHarness({ limits: { maxCompactions: 2 } });
    const compacted = { type: 'context.compacted' } as const;
    agent.send(taken(), tooLong, compacted, tooLong, compacted, tooLong);
    expect(agent.compactions).toHaveLength(2);
    expect(agent.actor.getSnapshot().output?.stop).toEqual({
      reason: 'compaction_failed',
      detail:
        'It was prompt-too-long. A summary did not help; `skein rewind` removes the newest prompt, or start a new session.',
    });
  });

  test('ends the run if the compaction fails', () => {
    const agent = agentHarness();
    agent.send(tooLong, { type: 'compaction.failed', detail: 'Nothing is left to drop.' });
    expect(agent.actor.getSnapshot().output?.stop).toEqual({
      reason: 'compaction_failed',
      detail: 'Nothing is left to drop.',
    });
  });

  test('does not use up the last turn of the run', () => {
    const agent = agentHarness({ limits: { maxTurns: 1 } });
    agent.send(taken(), tooLong);
    expect(agent.state).toBe('compacting');
    agent.send({ type: 'context.compacted' }, ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('is compacted after its calls have run if the answer filled the context window', () => {
    const agent = agentHarness();
    agent.send(taken(), drafted('c'), ruled('c'), ended('model_context_window_exceeded'));
    expect(agent.state).toBe('tool-running');
    agent.send(callEnded('c'));
    expect(agent.state).toBe('compacting');
    expect(agent.compactions).toEqual([{ why: 'refused', gapTokens: null }]);
    agent.send({ type: 'context.compacted' });
    expect(agent.state).toBe('streaming');
  });
});

describe('a prompt that would be too long', () => {
  const full = { type: 'room.needed', gapTokens: 70 } as const;
  const declined = { type: 'compaction.declined' } as const;

  test('is compacted before it is sent, in the same turn', () => {
    const agent = agentHarness({ limits: { maxTurns: 1 } });
    agent.send(taken(), full);
    expect(agent.compactions).toEqual([{ why: 'full', gapTokens: 70 }]);
    agent.send({ type: 'context.compacted' }, ended());
    expect(agent.visited).toEqual(['streaming', 'compacting', 'streaming', 'stopped']);
    expect(agent.turns.map(({ turn, attempt }) => [turn, attempt])).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  test('is sent unchanged if the compaction is declined', () => {
    const agent = agentHarness();
    agent.send(taken(), full, declined);
    expect(agent.turns.map(({ mayCompact }) => mayCompact)).toEqual([true, false]);
  });

  test('is not compacted again after three declined compactions in a row (X5)', () => {
    const agent = agentHarness({ staysIdle: true });
    for (const _ of [1, 2, 3]) agent.send(prompt, full, declined, taken(), ended());
    agent.send(prompt);
    expect(agent.compactions).toHaveLength(3);
    expect(agent.turns.at(-1)?.mayCompact).toBe(false);
  });

  test('may be compacted after declined compactions that a person requested', () => {
    const agent = agentHarness({ staysIdle: true });
    agent.send(taken(), ended());
    for (const _ of [1, 2, 3]) agent.send({ type: 'context.compact' }, declined);
    expect(agent.compactions).toHaveLength(3);
    agent.send(prompt);
    expect(agent.turns.at(-1)?.mayCompact).toBe(true);
  });

  test('may be compacted again after a successful compaction', () => {
    const agent = agentHarness({ staysIdle: true });
    for (const _ of [1, 2]) agent.send(prompt, full, declined, taken(), ended());
    agent.send(prompt, full, { type: 'context.compacted' }, taken(), ended());
    for (const _ of [1, 2]) agent.send(prompt, full, declined, taken(), ended());
    agent.send(prompt);
    expect(agent.turns.at(-1)?.mayCompact).toBe(true);
  });

  test('is compacted once per turn', () => {
    const agent = agentHarness();
    agent.send(taken(), full, { type: 'context.compacted' });
    expect(agent.turns.map(({ mayCompact }) => mayCompact)).toEqual([true, false]);
  });
});

describe('a refusal', () => {
  test('interrupts open calls and starts none', () => {
    const agent = agentHarness();
    agent.send(taken(), drafted('c1'), ruled('c1', 'writes'), drafted('c2'), ended('refusal'));
    expect(agent.state).toBe('tool-running');
    expect(agent.orders).toEqual(['call.judge c1', 'call.judge c2', 'calls.interrupt']);
    agent.send(callEnded('c1'), callEnded('c2'));
    expect(agent.orders.at(-1)).toBe('calls.yield');
    expect(agent.stopReason()).toBe('refusal');
    expect(agent.state).toBe('stopped');
  });
});

describe('a compacted prompt', () => {
  test('may be compacted again after a turn has ended', () => {
    const agent = agentHarness({ limits: { maxCompactions: 1 } });
    const tooLong = [failed('prompt-too-long'), { type: 'context.compacted' } as const];
    agent.send(taken(), ...tooLong, ended('pause_turn'), ...tooLong);
    expect(agent.compactions).toHaveLength(2);
    expect(agent.state).toBe('streaming');
    agent.send(failed('prompt-too-long'));
    expect(agent.stopReason()).toBe('compaction_failed');
  });
});
