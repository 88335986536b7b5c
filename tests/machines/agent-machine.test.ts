import { describe, expect, test } from 'vitest';
import { createActor, toPromise } from 'xstate';
import { agentMachine } from '../../src/machines/agent-machine.js';
import { DEFAULT_LIMITS } from '../../src/protocol/agent/agent-limits.js';
import type { AgentEvent } from '../../src/protocol/agent/agent-state.js';
import { STOP_REASONS, type StopReason } from '../../src/protocol/agent/stop.js';
import {
  agentInHand,
  asking,
  callEnded,
  drafted,
  ended,
  failed,
  type HandInput,
  interrupt,
  prompt,
  ruled,
  taken,
} from './agent-in-hand.js';

describe('an agent', () => {
  test('stops when the model asks for no tools', async () => {
    const agent = agentInHand();
    const done = toPromise(agent.actor);
    agent.tell(taken(), ended());
    expect(await done).toEqual({ stop: { reason: 'end_turn', detail: null }, turns: 1 });
    expect(agent.visited).toEqual(['streaming', 'stopped']);
  });

  test('runs a call when the message has ended, shows its result and thinks again', () => {
    const agent = agentInHand();
    agent.tell(taken(), drafted('c1'), ruled('c1', 'writes'));
    expect(agent.orders).toEqual(['call.judge c1']);
    agent.tell(ended('tool_use'));
    expect(agent.orders).toEqual(['call.judge c1', 'call.start c1']);
    agent.tell(callEnded('c1'));
    expect(agent.orders).toEqual(['call.judge c1', 'call.start c1', 'calls.yield']);
    agent.tell(ended());
    expect(agent.visited).toEqual(['streaming', 'tool-running', 'streaming', 'stopped']);
    expect(agent.turns.map(({ turn, attempt }) => [turn, attempt])).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  test('starts a read-only call while the model still streams', () => {
    const agent = agentInHand();
    agent.tell(taken(), drafted('c1'), ruled('c1'));
    expect(agent.state).toBe('streaming');
    expect(agent.orders).toEqual(['call.judge c1', 'call.start c1']);
  });

  test('goes straight on when its calls have ended before the message', () => {
    const agent = agentInHand();
    agent.tell(taken(), drafted('c1'), ruled('c1'), callEnded('c1'), ended('tool_use'));
    expect(agent.visited).toEqual(['streaming']);
    expect(agent.turns).toHaveLength(2);
    expect(agent.calls()).toEqual({});
  });

  test('awaits permission only when nothing else can proceed', () => {
    const agent = agentInHand();
    agent.tell(taken(), drafted('c1'), ruled('c1'), drafted('c2'), asking('c2'));
    agent.tell(ended('tool_use'));
    expect(agent.state).toBe('tool-running');
    agent.tell(callEnded('c1'));
    expect(agent.state).toBe('awaiting-permission');
    agent.tell(ruled('c2', 'writes'));
    expect(agent.state).toBe('tool-running');
    agent.tell(callEnded('c2'));
    expect(agent.state).toBe('streaming');
  });

  test('waits for a call that is still being judged', () => {
    const agent = agentInHand();
    agent.tell(taken(), drafted('c1'), ended('tool_use'));
    expect(agent.state).toBe('tool-running');
    agent.tell(asking('c1'));
    expect(agent.state).toBe('awaiting-permission');
    agent.tell(callEnded('c1', true));
    expect(agent.state).toBe('streaming');
  });

  test('tracks each call from judging to yielded', () => {
    const agent = agentInHand({ limits: { maxTurns: 1 }, staysIdle: true });
    const statuses: (string | undefined)[] = [];
    const look = () => statuses.push(agent.calls().c1);
    agent.tell(taken(), drafted('c1'));
    look();
    agent.tell(asking('c1'));
    look();
    agent.tell(ruled('c1', 'writes'));
    look();
    agent.tell(ended('tool_use'));
    look();
    agent.tell(callEnded('c1'));
    look();
    expect(statuses).toEqual(['judging', 'asking', 'queued', 'executing', 'yielded']);
  });

  test('goes on by itself after a pause of the server', () => {
    const agent = agentInHand();
    agent.tell(taken(), ended('pause_turn'));
    expect(agent.state).toBe('streaming');
    expect(agent.turns.map(({ turn }) => turn)).toEqual([1, 2]);
    agent.tell(ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('takes a stop reason it has never heard of for the end', () => {
    const agent = agentInHand();
    agent.tell(taken(), ended('a_reason_of_next_year'));
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('fails, for its parent to see, when a slot is empty', async () => {
    const input = {
      id: 'a',
      staysIdle: false,
      hasFallback: false,
      hasReview: false,
      limits: DEFAULT_LIMITS,
    };
    const rest = {
      openCalls: [],
      waiting: 0,
      pendingChildren: 0,
      owesAnswer: true,
      cutShort: false,
    };
    const actor = createActor(agentMachine, { input: { ...input, ...rest } });
    const done = toPromise(actor);
    actor.start();
    await expect(done).rejects.toThrow('Slot "crew" is empty');
  });
});

describe('every stop reason', () => {
  const tooLong = failed('prompt-too-long');
  const failingTurn: AgentEvent[] = [drafted('c'), callEnded('c', true), ended('tool_use')];
  const cutBy = (reason: StopReason): AgentEvent => {
    return { type: 'agent.interrupt', stop: { reason, detail: 'Enough.' } };
  };
  const way = (events: readonly AgentEvent[], input: HandInput = {}) => ({ events, input });

  const ways: Record<string, { events: readonly AgentEvent[]; input: HandInput }> = {
    end_turn: way([taken(), ended()]),
    max_turns: way([taken(), ended('pause_turn')], { limits: { maxTurns: 1 } }),
    budget: way([taken(), { type: 'turn.refused', stop: { reason: 'budget', detail: 'Spent.' } }]),
    time_limit: way([taken(), cutBy('time_limit'), ended('interrupted')]),
    interrupted: way([taken(), interrupt, ended('interrupted')]),
    stopped: way([taken(), cutBy('stopped'), ended('interrupted')]),
    denied: way([
      taken(),
      drafted('c'),
      asking('c'),
      ended('tool_use'),
      callEnded('c', true),
      { type: 'agent.interrupt', stop: { reason: 'denied', detail: 'Stop it.' } },
      ended('interrupted'),
    ]),
    compaction_failed: way([tooLong, { type: 'compaction.failed', detail: 'Nothing to drop.' }]),
    repeated_tool_failure: way([taken(), ...failingTurn, ...failingTurn], {
      limits: { maxFailedTurns: 2 },
    }),
    loop: way([taken(), { type: 'turn.refused', stop: { reason: 'loop', detail: 'Again.' } }]),
    refusal: way([taken(), ended('refusal')]),
    model_error: way([failed('rejected')]),
    storage_failed: way([{ type: 'storage.failed', detail: 'The disk is full.' }]),
  };

  test('is in the list of ways', () => {
    expect(Object.keys(ways)).toEqual(STOP_REASONS);
  });

  test.each(Object.entries(ways))('%s can be reached', (reason, { events, input }) => {
    const agent = agentInHand(input);
    agent.tell(...events);
    expect(agent.state).toBe('stopped');
    expect(agent.actor.getSnapshot().output?.stop.reason).toBe(reason);
  });
});

describe('an agent with children in the background', () => {
  const children = (live: number): AgentEvent => ({ type: 'children.changed', live });

  test('waits for them when it has nothing else to do, and goes on with what they report', () => {
    const agent = agentInHand();
    agent.tell(taken(), children(2), ended());
    expect(agent.state).toBe('idle');
    agent.tell(prompt, children(1));
    expect(agent.state).toBe('streaming');
    expect(agent.turns.at(-1)?.turn).toBe(2);
    agent.tell(taken(), ended());
    expect(agent.state).toBe('idle');
    agent.tell(children(0));
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('waits for them also when it is taken up again', () => {
    const agent = agentInHand({ waiting: 0, pendingChildren: 1 });
    expect(agent.state).toBe('idle');
    agent.tell(children(0));
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('can be stopped while it waits', () => {
    const agent = agentInHand({ waiting: 0, pendingChildren: 1 });
    agent.tell(interrupt);
    expect(agent.stopReason()).toBe('interrupted');
  });

  test('rests as ever, where somebody talks to it, and begins a new run when they report', () => {
    const agent = agentInHand({ staysIdle: true });
    agent.tell(taken(), children(1), ended());
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('end_turn');
    agent.tell(prompt);
    expect(agent.turns.at(-1)?.turn).toBe(1);
  });
});

describe('letters', () => {
  test('that arrive while the model speaks are answered in the next turn', () => {
    const agent = agentInHand();
    agent.tell(taken(), prompt, ended());
    expect(agent.state).toBe('streaming');
    agent.tell(taken(), ended());
    expect(agent.stopReason()).toBe('end_turn');
    expect(agent.turns).toHaveLength(2);
  });

  test('that arrive before the first ones are taken are counted with them', () => {
    const agent = agentInHand();
    agent.tell(prompt, prompt, taken(3), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test.each<[string, AgentEvent[], AgentEvent[]]>([
    ['tool-running', [drafted('c'), ruled('c'), ended('tool_use')], [callEnded('c')]],
    ['awaiting-permission', [drafted('c'), asking('c'), ended('tool_use')], [callEnded('c')]],
    ['retrying', [failed('server')], [{ type: 'pause.over' }, ended()]],
    ['compacting', [failed('prompt-too-long')], [{ type: 'context.compacted' }]],
  ])('that arrive in %s wait, and none is lost', (state, before, after) => {
    const agent = agentInHand();
    agent.tell(taken(), ...before);
    expect(agent.state).toBe(state);
    agent.tell(prompt);
    expect(agent.state).toBe(state);
    agent.tell(...after);
    expect(agent.state).toBe('streaming');
    expect(agent.actor.getSnapshot().context.waiting).toBe(1);
    agent.tell(taken(), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });
});

describe('a lingering agent', () => {
  test('rests after a run, and a prompt wakes it for another with fresh counts', () => {
    const agent = agentInHand({ staysIdle: true, limits: { maxTurns: 1 } });
    agent.tell(taken(), ended());
    expect(agent.state).toBe('idle');
    agent.tell(prompt);
    expect(agent.state).toBe('streaming');
    expect(agent.turns.at(-1)?.turn).toBe(1);
    agent.tell(taken(), ended());
    expect(agent.visited).toEqual(['streaming', 'idle', 'streaming', 'idle']);
  });

  test.each<[string, AgentEvent]>([
    ['an interrupt', ended('interrupted')],
    ['a refusal', ended('refusal')],
    ['an error of the model', failed('rejected')],
  ])('rests after %s', (_, event) => {
    const agent = agentInHand({ staysIdle: true });
    agent.tell(taken(), event);
    expect(agent.state).toBe('idle');
  });

  test.each<[string, AgentEvent[]]>([
    ['its budget is spent', [{ type: 'turn.refused', stop: { reason: 'budget', detail: null } }]],
    ['the disk refuses', [{ type: 'storage.failed', detail: 'Full.' }]],
    [
      'nothing fits any more',
      [failed('prompt-too-long'), { type: 'compaction.failed', detail: 'No.' }],
    ],
  ])('stops when %s', (_, events) => {
    const agent = agentInHand({ staysIdle: true });
    agent.tell(...events);
    expect(agent.state).toBe('stopped');
  });

  test('does not mind an interrupt while it rests', () => {
    const agent = agentInHand({ staysIdle: true });
    agent.tell(taken(), ended(), interrupt);
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('end_turn');
    agent.tell(prompt);
    expect(agent.state).toBe('streaming');
  });

  test('counts failing turns anew in each run', () => {
    const agent = agentInHand({ staysIdle: true, limits: { maxFailedTurns: 1 } });
    const failing = [drafted('c'), callEnded('c', true), ended('tool_use')];
    agent.tell(taken(), ...failing);
    expect(agent.stopReason()).toBe('repeated_tool_failure');
    agent.tell(prompt, taken(), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });
});

describe('limits', () => {
  test('of zero turns mean none at all', () => {
    const agent = agentInHand({ limits: { maxTurns: 0 } });
    expect(agent.state).toBe('stopped');
    expect(agent.turns).toEqual([]);
    expect(agent.actor.getSnapshot().output).toMatchObject({
      stop: { reason: 'max_turns' },
      turns: 0,
    });
  });

  test('of turns let the calls of the last one finish', () => {
    const agent = agentInHand({ limits: { maxTurns: 1 } });
    agent.tell(taken(), drafted('c'), ruled('c'), ended('tool_use'));
    expect(agent.state).toBe('tool-running');
    agent.tell(callEnded('c'));
    expect(agent.stopReason()).toBe('max_turns');
    expect(agent.orders.at(-1)).toBe('calls.yield');
  });

  test('of turns are not met by an agent that has ended', () => {
    const agent = agentInHand({ limits: { maxTurns: 1 } });
    agent.tell(taken(), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('of failing turns count only turns in which every call failed', () => {
    const agent = agentInHand({ limits: { maxFailedTurns: 2 } });
    const turn = (...failures: boolean[]) => {
      for (const [index, isFailed] of failures.entries()) {
        agent.tell(drafted(`c${index}`), callEnded(`c${index}`, isFailed));
      }
      agent.tell(ended('tool_use'));
    };
    agent.tell(taken());
    turn(true);
    turn(true, false);
    turn(true, true);
    expect(agent.state).toBe('streaming');
    turn(true);
    expect(agent.stopReason()).toBe('repeated_tool_failure');
  });

  test('of an agent that was refused a turn do not count that turn', () => {
    const agent = agentInHand();
    agent.tell(taken(), { type: 'turn.refused', stop: { reason: 'budget', detail: null } });
    expect(agent.actor.getSnapshot().output?.turns).toBe(0);
  });
});
