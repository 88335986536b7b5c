import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/protocol/agent/agent-state.js';
import {
  agentHarness,
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
} from './agent-harness.js';

/** Events that bring an agent into each state. */
const EVENTS_TO: Record<string, AgentEvent[]> = {
  streaming: [taken()],
  'tool-running': [taken(), drafted('c'), ruled('c'), ended('tool_use')],
  'awaiting-permission': [taken(), drafted('c'), asking('c'), ended('tool_use')],
  compacting: [taken(), failed('prompt-too-long')],
  retrying: [taken(), failed('server')],
  idle: [taken(), ended()],
};

const agentIn = (state: string) => {
  const agent = agentHarness({ staysIdle: true });
  agent.send(...(EVENTS_TO[state] ?? []));
  expect(agent.state).toBe(state);
  return agent;
};

describe('an interrupt', () => {
  test('while the model streams cancels the turn and waits for the running call', () => {
    const agent = agentIn('streaming');
    agent.send(drafted('c1'), ruled('c1'), interrupt);
    expect(agent.cancelled).toBe(1);
    expect(agent.state).toBe('streaming');
    agent.send(ended('interrupted'));
    expect(agent.orders.at(-1)).toBe('calls.interrupt');
    expect(agent.state).toBe('tool-running');
    agent.send(callEnded('c1'));
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('interrupted');
  });

  test('while the model streams prevents the start of calls', () => {
    const agent = agentIn('streaming');
    agent.send(interrupt, drafted('c1'), ruled('c1'), ended('interrupted'));
    expect(agent.orders).toEqual(['call.judge c1', 'calls.interrupt']);
  });

  test('ends the run if the stream fails instead of ending', () => {
    const agent = agentIn('streaming');
    agent.send(drafted('c1'), interrupt, failed('dropped'));
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('interrupted');
    expect(agent.orders.at(-1)).toBe('calls.discard');
  });

  test('ends the run even if the stop reason is pause_turn', () => {
    const agent = agentIn('streaming');
    agent.send(interrupt, ended('pause_turn'));
    expect(agent.state).toBe('idle');
  });

  test('while a tool runs waits for the results of all calls', () => {
    const agent = agentIn('tool-running');
    agent.send(interrupt);
    expect(agent.orders.at(-1)).toBe('calls.interrupt');
    expect(agent.state).toBe('tool-running');
    agent.send(callEnded('c'));
    expect(agent.orders.at(-1)).toBe('calls.yield');
    expect(agent.state).toBe('idle');
  });

  test('while permission is awaited interrupts the call', () => {
    const agent = agentIn('awaiting-permission');
    agent.send(interrupt);
    expect(agent.orders.at(-1)).toBe('calls.interrupt');
    agent.send(callEnded('c'));
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('interrupted');
  });

  test.each(['compacting', 'retrying'])('while %s ends the run at once', (state) => {
    const agent = agentIn(state);
    agent.send(interrupt);
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('interrupted');
    agent.send(pauseOver, { type: 'context.compacted' });
    expect(agent.state).toBe('idle');
  });

  test('while idle has no effect', () => {
    const agent = agentIn('idle');
    agent.send(interrupt);
    expect(agent.visited).toEqual(['streaming', 'idle']);
  });

  test('has no further effect if sent twice', () => {
    const agent = agentIn('tool-running');
    agent.send(interrupt, interrupt, callEnded('c'));
    expect(agent.state).toBe('idle');
  });

  test.each(Object.keys(EVENTS_TO))(
    'in %s leaves the agent able to answer the next prompt',
    (state) => {
      const agent = agentIn(state);
      agent.send(interrupt, ended('interrupted'), callEnded('c'));
      expect(agent.state).toBe('idle');
      agent.send(prompt);
      // The earlier failure does not count: the new run starts at turn 1, attempt 1.
      if (state === 'compacting') agent.send({ type: 'context.compacted' });
      expect(agent.state).toBe('streaming');
      expect(agent.turns.at(-1)).toMatchObject({ turn: 1, attempt: 1 });
      agent.send(taken(), ended());
      expect(agent.state).toBe('idle');
      expect(agent.stopReason()).toBe('end_turn');
    },
  );

  test('keeps waiting letters for the next run', () => {
    const agent = agentIn('tool-running');
    agent.send(prompt, interrupt, callEnded('c'));
    expect(agent.state).toBe('idle');
    agent.send(prompt);
    expect(agent.actor.getSnapshot().context.waiting).toBe(2);
  });
});

describe('a denial that ends the run', () => {
  const denied: AgentEvent = {
    type: 'agent.interrupt',
    stop: { reason: 'denied', detail: 'Stop here.' },
  };

  test('ends the run after the other calls have results', () => {
    const agent = agentHarness();
    agent.send(taken(), drafted('c1'), asking('c1'), drafted('c2'), asking('c2'));
    agent.send(ended('tool_use'), callEnded('c1', true), denied);
    expect(agent.orders.at(-1)).toBe('calls.interrupt');
    expect(agent.state).toBe('tool-running');
    agent.send(callEnded('c2'));
    expect(agent.actor.getSnapshot().output?.stop).toEqual({
      reason: 'denied',
      detail: 'Stop here.',
    });
  });

  test('cancels the turn if the model still streams', () => {
    const agent = agentHarness();
    agent.send(taken(), drafted('c1'), asking('c1'), callEnded('c1', true), denied);
    expect(agent.cancelled).toBe(1);
    agent.send(ended('interrupted'));
    expect(agent.stopReason()).toBe('denied');
    expect(agent.orders).toContain('calls.yield');
  });
});

describe('a storage failure', () => {
  const refused: AgentEvent = { type: 'storage.failed', detail: 'The disk is full.' };

  test.each(Object.keys(EVENTS_TO))('stops an agent that is %s', (state) => {
    const agent = agentIn(state);
    agent.send(refused);
    expect(agent.state).toBe('stopped');
    expect(agent.actor.getSnapshot().output?.stop).toEqual({
      reason: 'storage_failed',
      detail: 'The disk is full.',
    });
  });

  test('replaces the stop reason of an agent that is stopping', () => {
    const agent = agentIn('tool-running');
    agent.send(interrupt, refused);
    expect(agent.actor.getSnapshot().output?.stop.reason).toBe('storage_failed');
  });
});
