import { describe, expect, test } from 'vitest';
import { createActor, toPromise } from 'xstate';
import { agentMachine } from '../../src/machines/agent-machine.js';
import { DEFAULT_LIMITS } from '../../src/protocol/agent/agent-limits.js';
import type { AgentEvent } from '../../src/protocol/agent/agent-state.js';
import { STOP_REASONS, type StopReason } from '../../src/protocol/agent/stop.js';
import {
  agentHarness,
  asking,
  callEnded,
  drafted,
  ended,
  failed,
  type HarnessInput,
  interrupt,
  prompt,
  ruled,
  taken,
} from './agent-harness.js';

describe('an agent', () => {
  test('stops when the model asks for no tools', async () => {
    const agent = agentHarness();
    const done = toPromise(agent.actor);
    agent.send(taken(), ended());
    expect(await done).toEqual({ stop: { reason: 'end_turn', detail: null }, turns: 1 });
    expect(agent.visited).toEqual(['streaming', 'stopped']);
  });

  test('starts a writing call after the message ends and sends the result to the model in the next turn', () => {
    const agent = agentHarness();
    agent.send(taken(), drafted('c1'), ruled('c1', 'writes'));
    expect(agent.orders).toEqual(['call.judge c1']);
    agent.send(ended('tool_use'));
    expect(agent.orders).toEqual(['call.judge c1', 'call.start c1']);
    agent.send(callEnded('c1'));
    expect(agent.orders).toEqual(['call.judge c1', 'call.start c1', 'calls.yield']);
    agent.send(ended());
    expect(agent.visited).toEqual(['streaming', 'tool-running', 'streaming', 'stopped']);
    expect(agent.turns.map(({ turn, attempt }) => [turn, attempt])).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  test('starts a read-only call while the model still streams', () => {
    const agent = agentHarness();
    agent.send(taken(), drafted('c1'), ruled('c1'));
    expect(agent.state).toBe('streaming');
    expect(agent.orders).toEqual(['call.judge c1', 'call.start c1']);
  });

  test('starts the next turn at once if all calls ended before the message', () => {
    const agent = agentHarness();
    agent.send(taken(), drafted('c1'), ruled('c1'), callEnded('c1'), ended('tool_use'));
    expect(agent.visited).toEqual(['streaming']);
    expect(agent.turns).toHaveLength(2);
    expect(agent.calls()).toEqual({});
  });

  test('awaits permission only if no other call can run', () => {
    const agent = agentHarness();
    agent.send(taken(), drafted('c1'), ruled('c1'), drafted('c2'), asking('c2'));
    agent.send(ended('tool_use'));
    expect(agent.state).toBe('tool-running');
    agent.send(callEnded('c1'));
    expect(agent.state).toBe('awaiting-permission');
    agent.send(ruled('c2', 'writes'));
    expect(agent.state).toBe('tool-running');
    agent.send(callEnded('c2'));
    expect(agent.state).toBe('streaming');
  });

  test('stays in tool-running while a call is being judged', () => {
    const agent = agentHarness();
    agent.send(taken(), drafted('c1'), ended('tool_use'));
    expect(agent.state).toBe('tool-running');
    agent.send(asking('c1'));
    expect(agent.state).toBe('awaiting-permission');
    agent.send(callEnded('c1', true));
    expect(agent.state).toBe('streaming');
  });

  test('tracks each call from judging to yielded', () => {
    const agent = agentHarness({ limits: { maxTurns: 1 }, staysIdle: true });
    const statuses: (string | undefined)[] = [];
    const note = () => statuses.push(agent.calls().c1);
    agent.send(taken(), drafted('c1'));
    note();
    agent.send(asking('c1'));
    note();
    agent.send(ruled('c1', 'writes'));
    note();
    agent.send(ended('tool_use'));
    note();
    agent.send(callEnded('c1'));
    note();
    expect(statuses).toEqual(['judging', 'asking', 'queued', 'executing', 'yielded']);
  });

  test('starts another turn after the stop reason pause_turn', () => {
    const agent = agentHarness();
    agent.send(taken(), ended('pause_turn'));
    expect(agent.state).toBe('streaming');
    expect(agent.turns.map(({ turn }) => turn)).toEqual([1, 2]);
    agent.send(ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('treats an unknown stop reason as the end of the run', () => {
    const agent = agentHarness();
    agent.send(taken(), ended('a_reason_of_next_year'));
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('rejects with an error if a slot is empty', async () => {
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
  const script = (events: readonly AgentEvent[], input: HarnessInput = {}) => ({ events, input });

  const scripts: Record<string, { events: readonly AgentEvent[]; input: HarnessInput }> = {
    end_turn: script([taken(), ended()]),
    max_turns: script([taken(), ended('pause_turn')], { limits: { maxTurns: 1 } }),
    budget: script([
      taken(),
      { type: 'turn.refused', stop: { reason: 'budget', detail: 'Spent.' } },
    ]),
    time_limit: script([taken(), cutBy('time_limit'), ended('interrupted')]),
    interrupted: script([taken(), interrupt, ended('interrupted')]),
    stopped: script([taken(), cutBy('stopped'), ended('interrupted')]),
    denied: script([
      taken(),
      drafted('c'),
      asking('c'),
      ended('tool_use'),
      callEnded('c', true),
      { type: 'agent.interrupt', stop: { reason: 'denied', detail: 'Stop it.' } },
      ended('interrupted'),
    ]),
    compaction_failed: script([tooLong, { type: 'compaction.failed', detail: 'Nothing to drop.' }]),
    repeated_tool_failure: script([taken(), ...failingTurn, ...failingTurn], {
      limits: { maxRefusedTurns: 2 },
    }),
    loop: script([taken(), { type: 'turn.refused', stop: { reason: 'loop', detail: 'Again.' } }]),
    refusal: script([taken(), ended('refusal')]),
    model_error: script([failed('rejected')]),
    storage_failed: script([{ type: 'storage.failed', detail: 'The disk is full.' }]),
  };

  test('has a script in this test', () => {
    expect(Object.keys(scripts)).toEqual(STOP_REASONS);
  });

  test.each(Object.entries(scripts))('%s is reachable', (reason, { events, input }) => {
    const agent = agentHarness(input);
    agent.send(...events);
    expect(agent.state).toBe('stopped');
    expect(agent.actor.getSnapshot().output?.stop.reason).toBe(reason);
  });
});

describe('an agent with children in the background', () => {
  const children = (live: number): AgentEvent => ({ type: 'children.changed', live });

  test('becomes idle after its turn, resumes on a report, and ends when no child is left', () => {
    const agent = agentHarness();
    agent.send(taken(), children(2), ended());
    expect(agent.state).toBe('idle');
    agent.send(prompt, children(1));
    expect(agent.state).toBe('streaming');
    expect(agent.turns.at(-1)?.turn).toBe(2);
    agent.send(taken(), ended());
    expect(agent.state).toBe('idle');
    agent.send(children(0));
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('waits for pending children after a restart', () => {
    const agent = agentHarness({ waiting: 0, pendingChildren: 1 });
    expect(agent.state).toBe('idle');
    agent.send(children(0));
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('stops on an interrupt while it waits', () => {
    const agent = agentHarness({ waiting: 0, pendingChildren: 1 });
    agent.send(interrupt);
    expect(agent.stopReason()).toBe('interrupted');
  });

  test('ends its run if it stays idle, and starts a new run on a report', () => {
    const agent = agentHarness({ staysIdle: true });
    agent.send(taken(), children(1), ended());
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('end_turn');
    agent.send(prompt);
    expect(agent.turns.at(-1)?.turn).toBe(1);
  });
});

describe('letters', () => {
  test('that arrive during a turn are answered in the next turn', () => {
    const agent = agentHarness();
    agent.send(taken(), prompt, ended());
    expect(agent.state).toBe('streaming');
    agent.send(taken(), ended());
    expect(agent.stopReason()).toBe('end_turn');
    expect(agent.turns).toHaveLength(2);
  });

  test('that arrive before the first letters are taken are taken with them', () => {
    const agent = agentHarness();
    agent.send(prompt, prompt, taken(3), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test.each<[string, AgentEvent[], AgentEvent[]]>([
    ['tool-running', [drafted('c'), ruled('c'), ended('tool_use')], [callEnded('c')]],
    ['awaiting-permission', [drafted('c'), asking('c'), ended('tool_use')], [callEnded('c')]],
    ['retrying', [failed('server')], [{ type: 'pause.over' }, ended()]],
    ['compacting', [failed('prompt-too-long')], [{ type: 'context.compacted' }]],
  ])('that arrive in %s are kept for the next turn', (state, before, after) => {
    const agent = agentHarness();
    agent.send(taken(), ...before);
    expect(agent.state).toBe(state);
    agent.send(prompt);
    expect(agent.state).toBe(state);
    agent.send(...after);
    expect(agent.state).toBe('streaming');
    expect(agent.actor.getSnapshot().context.waiting).toBe(1);
    agent.send(taken(), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });
});

describe('an agent that stays idle', () => {
  test('is idle after a run, and a prompt starts a new run with its turn count at zero', () => {
    const agent = agentHarness({ staysIdle: true, limits: { maxTurns: 1 } });
    agent.send(taken(), ended());
    expect(agent.state).toBe('idle');
    agent.send(prompt);
    expect(agent.state).toBe('streaming');
    expect(agent.turns.at(-1)?.turn).toBe(1);
    agent.send(taken(), ended());
    expect(agent.visited).toEqual(['streaming', 'idle', 'streaming', 'idle']);
  });

  test.each<[string, AgentEvent]>([
    ['an interrupt', ended('interrupted')],
    ['a refusal', ended('refusal')],
    ['an error of the model', failed('rejected')],
  ])('is idle after %s', (_, event) => {
    const agent = agentHarness({ staysIdle: true });
    agent.send(taken(), event);
    expect(agent.state).toBe('idle');
  });

  test.each<[string, AgentEvent[]]>([
    ['its budget is spent', [{ type: 'turn.refused', stop: { reason: 'budget', detail: null } }]],
    ['a storage write fails', [{ type: 'storage.failed', detail: 'Full.' }]],
    [
      'a compaction fails',
      [failed('prompt-too-long'), { type: 'compaction.failed', detail: 'No.' }],
    ],
  ])('stops when %s', (_, events) => {
    const agent = agentHarness({ staysIdle: true });
    agent.send(...events);
    expect(agent.state).toBe('stopped');
  });

  test('ignores an interrupt while it is idle', () => {
    const agent = agentHarness({ staysIdle: true });
    agent.send(taken(), ended(), interrupt);
    expect(agent.state).toBe('idle');
    expect(agent.stopReason()).toBe('end_turn');
    agent.send(prompt);
    expect(agent.state).toBe('streaming');
  });

  test('counts refused turns from zero in each run', () => {
    const agent = agentHarness({ staysIdle: true, limits: { maxRefusedTurns: 1 } });
    const failing = [drafted('c'), callEnded('c', true), ended('tool_use')];
    agent.send(taken(), ...failing);
    expect(agent.stopReason()).toBe('repeated_tool_failure');
    agent.send(prompt, taken(), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });
});

describe('limits', () => {
  test('of zero turns stop the agent before the first turn', () => {
    const agent = agentHarness({ limits: { maxTurns: 0 } });
    expect(agent.state).toBe('stopped');
    expect(agent.turns).toEqual([]);
    expect(agent.actor.getSnapshot().output).toMatchObject({
      stop: { reason: 'max_turns' },
      turns: 0,
    });
  });

  test('of turns let the calls of the last turn finish', () => {
    const agent = agentHarness({ limits: { maxTurns: 1 } });
    agent.send(taken(), drafted('c'), ruled('c'), ended('tool_use'));
    expect(agent.state).toBe('tool-running');
    agent.send(callEnded('c'));
    expect(agent.stopReason()).toBe('max_turns');
    expect(agent.orders.at(-1)).toBe('calls.yield');
  });

  test('of turns are not reported if the last allowed turn ends the run', () => {
    const agent = agentHarness({ limits: { maxTurns: 1 } });
    agent.send(taken(), ended());
    expect(agent.stopReason()).toBe('end_turn');
  });

  test('of refused turns count only turns in which all calls were refused', () => {
    const agent = agentHarness({ limits: { maxRefusedTurns: 2 } });
    const turn = (...failures: boolean[]) => {
      for (const [index, isFailed] of failures.entries()) {
        agent.send(drafted(`c${index}`), callEnded(`c${index}`, isFailed));
      }
      agent.send(ended('tool_use'));
    };
    agent.send(taken());
    turn(true);
    turn(true, false);
    turn(true, true);
    expect(agent.state).toBe('streaming');
    turn(true);
    expect(agent.stopReason()).toBe('repeated_tool_failure');
  });

  test('of turns do not count a refused turn', () => {
    const agent = agentHarness();
    agent.send(taken(), { type: 'turn.refused', stop: { reason: 'budget', detail: null } });
    expect(agent.actor.getSnapshot().output?.turns).toBe(0);
  });
});
