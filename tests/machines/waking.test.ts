import { describe, expect, test } from 'vitest';
import { agentInHand, asking, callEnded, ended, ruled, taken } from './agent-in-hand.js';

describe('a rebuilt agent', () => {
  test('asks an answer that was cut off to go on', () => {
    const agent = agentInHand({ waiting: 0, owesAnswer: false, cutShort: true });
    expect(agent.turns).toMatchObject([{ cutShort: true }]);
  });

  test('that owes an answer asks the model again', () => {
    const agent = agentInHand({ waiting: 0, owesAnswer: true });
    expect(agent.state).toBe('streaming');
    agent.tell(ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('that has letters answers them', () => {
    const agent = agentInHand({ waiting: 2 });
    agent.tell(taken(2), ended());
    expect(agent.turns).toHaveLength(1);
  });

  test('that has nothing to do has ended, or rests', () => {
    expect(agentInHand({ waiting: 0 }).visited).toEqual(['stopped']);
    expect(agentInHand({ waiting: 0, staysIdle: true }).visited).toEqual(['idle']);
  });

  test('shows results that nobody has seen, and goes on', () => {
    const openCalls = [
      { id: 'c1', completed: true },
      { id: 'c2', completed: true },
    ];
    const agent = agentInHand({ waiting: 0, openCalls });
    expect(agent.crews).toEqual([{ unjudged: [] }]);
    expect(agent.orders).toEqual(['calls.yield']);
    expect(agent.state).toBe('streaming');
  });

  test('has the crew judge the calls that are open, in order, and no other', () => {
    const openCalls = [
      { id: 'c1', completed: false },
      { id: 'c2', completed: true },
      { id: 'c3', completed: false },
    ];
    const agent = agentInHand({ waiting: 0, openCalls });
    expect(agent.crews).toEqual([{ unjudged: ['c1', 'c3'] }]);
    expect(agent.state).toBe('tool-running');
    agent.tell(ruled('c1'), asking('c3'), callEnded('c1'));
    expect(agent.state).toBe('awaiting-permission');
    agent.tell(ruled('c3', 'writes'));
    expect(agent.orders).toEqual(['call.start c1', 'call.start c3']);
    agent.tell(callEnded('c3'));
    expect(agent.state).toBe('streaming');
  });

  test('finishes its calls even when no turn is left for it', () => {
    const openCalls = [{ id: 'c1', completed: false }];
    const agent = agentInHand({ waiting: 0, openCalls, limits: { maxTurns: 0 } });
    agent.tell(callEnded('c1'));
    expect(agent.stopReason()).toBe('max_turns');
    expect(agent.orders).toEqual(['calls.yield']);
  });

  test('goes where its history says, however it got there', () => {
    const openCalls = [{ id: 'c1', completed: true }];
    const lingering = agentInHand({ openCalls, waiting: 1, owesAnswer: false, staysIdle: true });
    expect(lingering.state).toBe('streaming');
    lingering.tell(taken(1), ended());
    expect(lingering.state).toBe('idle');
  });
});
