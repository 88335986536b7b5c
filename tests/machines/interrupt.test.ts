import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/protocol/agent/agent-state.js';
import {
  agentInHand,
  asking,
  callEnded,
  drafted,
  ended,
  failed,
  interrupt,
  pauseOver,
  prompt,
  ruled,
  taken,
} from './agent-in-hand.js';

/** How to get an agent into each state where something can happen to it. */
const WAYS: Record<string, AgentEvent[]> = {
  streaming: [taken()],
  'tool-running': [taken(), drafted('c'), ruled('c'), ended('tool_use')],
  'awaiting-permission': [taken(), drafted('c'), asking('c'), ended('tool_use')],
  compacting: [taken(), failed('prompt-too-long')],
  retrying: [taken(), failed('server')],
  idle: [taken(), ended()],
};

const agentIn = (state: string) => {
  const agent = agentInHand({ staysIdle: true });
  agent.tell(...(WAYS[state] ?? []));
  expect(agent.state).toBe(state);
  return agent;
};

describe('an interrupt', () => {
  test('while the model speaks cancels the turn and waits for what it keeps', () => {
    const agent = agentIn('streaming');
    agent.tell(drafted('c1'), ruled('c1'), interrupt);
    expect(agent.cancelled).toBe(1);
    expect(agent.state).toBe('streaming');
    agent.tell(ended('interrupted'));
    expect(agent.orders.at(-1)).toBe('calls.interrupt');
    expect(agent.state).toBe('tool-running');
    agent.tell(callEnded('c1'));
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('interrupted');
  });

  test('while the model speaks starts no call any more', () => {
    const agent = agentIn('streaming');
    agent.tell(interrupt, drafted('c1'), ruled('c1'), ended('interrupted'));
    expect(agent.orders).toEqual(['call.judge c1', 'calls.interrupt']);
  });

  test('holds when the stream fails instead of ending', () => {
    const agent = agentIn('streaming');
    agent.tell(drafted('c1'), interrupt, failed('dropped'));
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('interrupted');
    expect(agent.orders.at(-1)).toBe('calls.discard');
  });

  test('holds when the model wanted to go on', () => {
    const agent = agentIn('streaming');
    agent.tell(interrupt, ended('pause_turn'));
    expect(agent.state).toBe('idle');
  });

  test('while a tool runs waits until the crew has answered every call', () => {
    const agent = agentIn('tool-running');
    agent.tell(interrupt);
    expect(agent.orders.at(-1)).toBe('calls.interrupt');
    expect(agent.state).toBe('tool-running');
    agent.tell(callEnded('c'));
    expect(agent.orders.at(-1)).toBe('calls.yield');
    expect(agent.state).toBe('idle');
  });

  test('while permission is awaited withdraws the question', () => {
    const agent = agentIn('awaiting-permission');
    agent.tell(interrupt);
    expect(agent.orders.at(-1)).toBe('calls.interrupt');
    agent.tell(callEnded('c'));
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('interrupted');
  });

  test.each(['compacting', 'retrying'])('while %s ends the run at once', (state) => {
    const agent = agentIn(state);
    agent.tell(interrupt);
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('interrupted');
    agent.tell(pauseOver, { type: 'context.compacted' });
    expect(agent.state).toBe('idle');
  });

  test('while idle changes nothing', () => {
    const agent = agentIn('idle');
    agent.tell(interrupt);
    expect(agent.visited).toEqual(['streaming', 'idle']);
  });

  test('may come twice', () => {
    const agent = agentIn('tool-running');
    agent.tell(interrupt, interrupt, callEnded('c'));
    expect(agent.state).toBe('idle');
  });

  test.each(Object.keys(WAYS))('in %s leaves an agent that answers the next prompt', (state) => {
    const agent = agentIn(state);
    agent.tell(interrupt, ended('interrupted'), callEnded('c'));
    expect(agent.state).toBe('idle');
    agent.tell(prompt);
    // Whatever had failed before is over: the prompt is the first thing that is sent.
    if (state === 'compacting') agent.tell({ type: 'context.compacted' });
    expect(agent.state).toBe('streaming');
    expect(agent.turns.at(-1)).toMatchObject({ turn: 1, attempt: 1 });
    agent.tell(taken(), ended());
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('keeps the letters that wait for the next run', () => {
    const agent = agentIn('tool-running');
    agent.tell(prompt, interrupt, callEnded('c'));
    expect(agent.state).toBe('idle');
    agent.tell(prompt);
    expect(agent.actor.getSnapshot().context.waiting).toBe(2);
  });
});

describe('a person who denies a call and the run with it', () => {
  const denied: AgentEvent = {
    type: 'agent.interrupt',
    stop: { reason: 'denied', detail: 'Stop here.' },
  };

  test('ends the run after the other calls have been answered', () => {
    const agent = agentInHand();
    agent.tell(taken(), drafted('c1'), asking('c1'), drafted('c2'), asking('c2'));
    agent.tell(ended('tool_use'), callEnded('c1', true), denied);
    expect(agent.orders.at(-1)).toBe('calls.interrupt');
    expect(agent.state).toBe('tool-running');
    agent.tell(callEnded('c2'));
    expect(agent.actor.getSnapshot().output?.stop).toEqual({
      reason: 'denied',
      detail: 'Stop here.',
    });
  });

  test('cancels the turn when the model still speaks', () => {
    const agent = agentInHand();
    agent.tell(taken(), drafted('c1'), asking('c1'), callEnded('c1', true), denied);
    expect(agent.cancelled).toBe(1);
    agent.tell(ended('interrupted'));
    expect(agent.stopReason()).toBe('denied');
    expect(agent.orders).toContain('calls.yield');
  });
});

describe('a disk that refuses', () => {
  const refused: AgentEvent = { type: 'storage.failed', detail: 'The disk is full.' };

  test.each(Object.keys(WAYS))('stops an agent that is %s', (state) => {
    const agent = agentIn(state);
    agent.tell(refused);
    expect(agent.state).toBe('stopped');
    expect(agent.actor.getSnapshot().output?.stop).toEqual({
      reason: 'storage_failed',
      detail: 'The disk is full.',
    });
  });

  test('stops an agent that was winding down for another reason', () => {
    const agent = agentIn('tool-running');
    agent.tell(interrupt, refused);
    expect(agent.actor.getSnapshot().output?.stop.reason).toBe('storage_failed');
  });
});
