import { describe, expect, test } from 'vitest';
import { agentHarness, asking, callEnded, ended, ruled, taken } from './agent-harness.js';

describe('a rebuilt agent', () => {
  test('requests the continuation of an answer that was cut off', () => {
    const agent = agentHarness({ waiting: 0, owesAnswer: false, cutShort: true });
    expect(agent.turns).toMatchObject([{ cutShort: true }]);
  });

  test('with an answer due sends a request to the model', () => {
    const agent = agentHarness({ waiting: 0, owesAnswer: true });
    expect(agent.state).toBe('streaming');
    agent.send(ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('with waiting letters answers them in a turn', () => {
    const agent = agentHarness({ waiting: 2 });
    agent.send(taken(2), ended());
    expect(agent.turns).toHaveLength(1);
  });

  test('without work stops, or is idle if it stays idle', () => {
    expect(agentHarness({ waiting: 0 }).visited).toEqual(['stopped']);
    expect(agentHarness({ waiting: 0, staysIdle: true }).visited).toEqual(['idle']);
  });

  test('sends results that the model has not seen in the next turn', () => {
    const openCalls = [
      { id: 'c1', completed: true },
      { id: 'c2', completed: true },
    ];
    const agent = agentHarness({ waiting: 0, openCalls });
    expect(agent.crews).toEqual([{ unjudged: [] }]);
    expect(agent.orders).toEqual(['calls.yield']);
    expect(agent.state).toBe('streaming');
  });

  test('lets the crew judge exactly the open calls, in order', () => {
    const openCalls = [
      { id: 'c1', completed: false },
      { id: 'c2', completed: true },
      { id: 'c3', completed: false },
    ];
    const agent = agentHarness({ waiting: 0, openCalls });
    expect(agent.crews).toEqual([{ unjudged: ['c1', 'c3'] }]);
    expect(agent.state).toBe('tool-running');
    agent.send(ruled('c1'), asking('c3'), callEnded('c1'));
    expect(agent.state).toBe('awaiting-permission');
    agent.send(ruled('c3', 'writes'));
    expect(agent.orders).toEqual(['call.start c1', 'call.start c3']);
    agent.send(callEnded('c3'));
    expect(agent.state).toBe('streaming');
  });

  test('finishes its calls even if no turn is left', () => {
    const openCalls = [{ id: 'c1', completed: false }];
    const agent = agentHarness({ waiting: 0, openCalls, limits: { maxTurns: 0 } });
    agent.send(callEnded('c1'));
    expect(agent.stopReason()).toBe('max_turns');
    expect(agent.orders).toEqual(['calls.yield']);
  });

  test('with results and a letter streams, and is idle after the turn', () => {
    const openCalls = [{ id: 'c1', completed: true }];
    const agent = agentHarness({ openCalls, waiting: 1, owesAnswer: false, staysIdle: true });
    expect(agent.state).toBe('streaming');
    agent.send(taken(1), ended());
    expect(agent.state).toBe('idle');
  });
});
