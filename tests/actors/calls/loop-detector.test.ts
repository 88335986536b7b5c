/** Agents that repeat calls with the same result, alone or together with others. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { LoopDetector } from '../../../src/actors/calls/loop-detector.js';
import { CommonFailures } from '../../../src/context/common-failures.js';
import { DEFAULT_LIMITS } from '../../../src/protocol/agent/agent-limits.js';
import { defineTool, type Tool, ToolFailure } from '../../../src/protocol/tools/tool.js';
import { sendMessage } from '../../../src/tools/agents/send-message.js';
import { taskOutput } from '../../../src/tools/background/task-output.js';
import { getTask } from '../../../src/tools/tasks/get-task.js';
import { listTasks } from '../../../src/tools/tasks/list-tasks.js';
import { readTodos } from '../../../src/tools/todos/read-todos.js';
import type { Answer } from '../../fakes/agents/scripted-model.js';
import { calls, choosingModel, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import { type LeadHarness, leadHarness, type ToolEffects } from '../session/lead-harness.js';
import {
  allSettled,
  type Conversation,
  type SwarmHarness,
  swarmHarness,
  task,
} from '../swarm/swarm-harness.js';

/** The task text appears in the prompt of the child only, so that its parent does not match. */
const EXPLORER = { subagent_type: 'explorer', description: 'A task' };

/** Repeats the calls of a plan, and ends after `maxTurns` turns. */
const repeating = (plan: readonly (readonly [string, unknown])[], maxTurns = 60) =>
  choosingModel((_, number): Answer => {
    const [tool, input] = plan[(number - 1) % plan.length] ?? ['', {}];
    return number > maxTurns ? [says('done')] : [calls(`c${number}`, tool, input)];
  });

const look = (name: string) => ['Look', { name }] as const;

const run = async (
  plan: readonly (readonly [string, unknown])[],
  options: { maxTurns?: number; effects?: ToolEffects; tools?: readonly Tool[] } = {},
) => {
  const { maxTurns, ...rest } = options;
  const model = repeating(plan, maxTurns);
  const harness = await leadHarness({ model, ...rest });
  await harness.say('Go');
  const { stop } = await harness.lead.stopped;
  return { ...harness, stop, requests: model.requests };
};

const warnings = ({ items }: Pick<LeadHarness, 'items'>): number =>
  items.filter((it) => it.type === 'tool.ended' && it.raw.includes('[Skein: ')).length;

describe('a planted loop', () => {
  test('warns the model at the third repetition, and ends the agent at the tenth', async () => {
    const { stop, requests, items, records } = await run([look('a')]);
    expect([stop.reason, requests.length]).toEqual(['loop', 10]);
    expect(stop.detail).toBe(
      'The agent repeated the same calls 10 times with the same results, although it was warned; its work is kept. Tell it what to do instead.',
    );
    const ends = (await records()).filter((it) => it.type === 'call.ended');
    expect(ends.map(({ trace }) => trace?.told)).toEqual([
      undefined,
      undefined,
      3,
      4,
      5,
      6,
      7,
      8,
      9,
      10,
    ]);
    expect(new Set(ends.map(({ trace }) => trace?.digest)).size).toBe(1);
    expect(requests[3]?.body).toContain(
      'did a\\n\\n[Skein: you have made this call 3 times, and Look returned the same result each time.',
    );
    expect(items.at(-1)).toMatchObject({ type: 'run.ended', stop: { reason: 'loop' } });
  });

  test('is detected in results that are stored as artifacts', async () => {
    const print = defineTool({
      name: 'Print',
      kind: 'sdk',
      prompt: 'Print',
      interruptBehavior: 'cancel',
      input: z.object({}),
      describe: () => 'Print',
      isReadOnly: () => true,
      isConcurrencySafe: () => true,
      subject: () => ({ action: 'none', target: '' }),
      call: async () => ({ content: 'x'.repeat(200_000) }),
    }) as Tool;
    const { stop, requests } = await run([['Print', {}]], { tools: [print] });
    expect([stop.reason, requests.length]).toEqual(['loop', 10]);
  });

  test('of several alternating calls ends the agent at the tenth round', async () => {
    const { stop, requests } = await run([look('a'), ['Change', { name: 'b' }], look('c')]);
    expect([stop.reason, requests.length]).toEqual(['loop', 30]);
  });

  test('is not detected while results differ', async () => {
    let number = 0;
    const effects: ToolEffects = {
      a: () => {
        number += 1;
        return { content: `${number} of 10` };
      },
    };
    const harness = await run([look('a')], { maxTurns: 20, effects });
    expect([harness.stop.reason, warnings(harness)]).toEqual(['end_turn', 0]);
  });

  test('is not detected if other calls are made in between', async () => {
    const plan = Array.from({ length: 12 }, (_, at) => [look('a'), look(`b${at}`)]).flat();
    const harness = await run(plan, { maxTurns: 24 });
    expect([harness.stop.reason, warnings(harness)]).toEqual(['end_turn', 0]);
  });

  test('ends the run of an idle lead, and a new prompt restarts the count', async () => {
    const model = repeating([look('a')], 12);
    const { say, items } = await leadHarness({ model, staysIdle: true });
    await say('Go');
    await say('Try it once more, then stop.');
    const ends = items.flatMap((it) => (it.type === 'run.ended' ? [it.stop.reason] : []));
    expect([ends, model.requests.length]).toEqual([['loop', 'end_turn'], 13]);
  });

  test('is counted on after a restart from the journal', async () => {
    const { opened } = gate();
    const before = choosingModel((_, number) =>
      number > 4 ? [waits(opened)] : [calls(`c${number}`, 'Look', { name: 'a' })],
    );
    const harness = await leadHarness({ model: before });
    await harness.say('Go');
    await harness.lead.close();
    const model = choosingModel((_, number) => [calls(`d${number}`, 'Look', { name: 'a' })]);
    const choice = { kind: 'resume', id: harness.lead.id } as const;
    const { lead } = await leadHarness({ model, store: harness.store, choice });
    lead.start();
    expect((await lead.stopped).stop.reason).toBe('loop');
    expect(model.requests).toHaveLength(6);
  });

  test('of failing calls ends the agent like any other loop', async () => {
    const effects: ToolEffects = {
      a: () => {
        throw new ToolFailure('There is no such file.');
      },
    };
    const { stop, requests } = await run([look('a')], { effects });
    expect([stop.reason, requests.length]).toEqual(['loop', 10]);
  });
});

describe('a polling tool', () => {
  const status = defineTool({
    name: 'Status',
    kind: 'sdk',
    prompt: 'Status',
    interruptBehavior: 'cancel',
    input: z.object({}),
    describe: () => 'Status',
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    polls: () => true,
    subject: () => ({ action: 'none', target: '' }),
    call: async () => ({ content: 'still running' }),
  }) as Tool;

  test('may be repeated without limit', async () => {
    const harness = await run([['Status', {}]], { maxTurns: 50, tools: [status] });
    expect([harness.stop.reason, harness.requests.length, warnings(harness)]).toEqual([
      'end_turn',
      51,
      0,
    ]);
  });

  test('may be repeated with read calls in between', async () => {
    const harness = await run([look('log'), ['Status', {}]], { maxTurns: 50, tools: [status] });
    expect([harness.stop.reason, warnings(harness)]).toEqual(['end_turn', 0]);
  });

  test('is any tool that reads tasks or todos', () => {
    expect(taskOutput.polls?.({ task_id: 'bash_1' })).toBe(true);
    expect([readTodos, listTasks].map((it) => it.polls?.({}))).toEqual([true, true]);
    expect(getTask.polls?.({ taskId: '1' })).toBe(true);
  });
});

describe('a parent that starts the same agent repeatedly', () => {
  const swarm = (input: Record<string, unknown>, report: (number: number) => string) => {
    let children = 0;
    let turns = 0;
    const answer = (conversation: Conversation): Answer => {
      if (conversation.said.some((text) => text.includes('find it'))) {
        children += 1;
        return [says(report(children))];
      }
      turns += 1;
      return turns > 20 ? [says('done')] : [calls(`t${turns}`, 'Task', task('find it', input))];
    };
    return swarmHarness(answer, { staysIdle: false });
  };

  const ended = async (harness: SwarmHarness): Promise<string> => {
    await harness.say('begin');
    await allSettled(60);
    return (await harness.lead.stopped).stop.reason;
  };
  const spawned = ({ items }: SwarmHarness) =>
    items.filter(({ type }) => type === 'agent.spawned').length;

  test('is stopped if the reports are equal except for ids and costs', async () => {
    const harness = await swarm(EXPLORER, () => 'It is not here.');
    expect([await ended(harness), spawned(harness)]).toEqual(['loop', 10]);
  });

  test('is stopped if the agents run in the background', async () => {
    const background = { ...EXPLORER, run_in_background: true };
    const harness = await swarm(background, () => 'It is not here.');
    expect(await ended(harness)).toBe('loop');
    expect(spawned(harness)).toBeLessThan(14);
  });

  test('continues while the reports differ', async () => {
    const harness = await swarm(EXPLORER, (number) => `Found ${number}.`);
    expect([await ended(harness), spawned(harness)]).toEqual(['end_turn', 20]);
  });
});

describe('a call that fails for many agents in the same way', () => {
  const failing: ToolEffects = {
    gate: () => {
      throw new ToolFailure('The gate is shut.');
    },
  };

  /** Sequential agents that each make the failing call `tries` times. */
  const swarm = (agents: number, tries: number, effects: ToolEffects = failing) =>
    swarmHarness(
      (conversation): Answer => {
        const isChild = conversation.said.some((text) => text.includes('agent number'));
        if (!isChild) {
          const { turn } = conversation;
          if (turn >= agents) return [says('done')];
          return [calls(`t${turn}`, 'Task', task(`agent number ${turn}`, EXPLORER))];
        }
        if (conversation.turn >= tries) return [says('it is shut')];
        const id = `k${conversation.said.join().length}-${conversation.turn}`;
        return [calls(id, 'Look', { name: 'gate' }), calls(`${id}-b`, 'Look', { name: 'wall' })];
      },
      { effects },
    );
  const stopsOf = ({ items }: SwarmHarness) =>
    items.flatMap((it) => (it.type === 'agent.ended' ? [it.report.stop.reason] : []));
  const swarmWarnings = ({ items }: SwarmHarness) =>
    items.filter(
      (it) =>
        it.type === 'agent.feed' &&
        it.item.type === 'tool.ended' &&
        it.item.raw.includes('agents of this swarm have made this call'),
    ).length;

  test('warns from the third agent on', async () => {
    const harness = await swarm(5, 1);
    await harness.say('begin');
    await harness.lead.stopped;
    expect([stopsOf(harness), swarmWarnings(harness)]).toEqual([Array(5).fill('end_turn'), 3]);
  });

  test('ends a later agent that repeats it earlier than the first agents', async () => {
    const harness = await swarm(4, 5);
    await harness.say('begin');
    await harness.lead.stopped;
    expect(stopsOf(harness)).toEqual(['end_turn', 'end_turn', 'loop', 'loop']);
  });

  test('is no reason to stop an agent before its first warning', () => {
    const failures = new CommonFailures();
    let rounds = 1;
    const detectorOf = (agent: string) =>
      new LoopDetector(
        agent,
        { loopGuard: { roundsWith: () => rounds } } as never,
        DEFAULT_LIMITS,
        failures,
      );
    const requested = { id: 'c', tool: 'Look', input: {}, malformed: undefined };
    const fail = (agent: string) =>
      detectorOf(agent).observe({ requested, number: 1 } as never, {
        outcome: 'error',
        content: 'The gate is shut.',
        failed: true,
        gist: undefined,
      });
    for (const agent of ['a', 'b', 'c']) fail(agent);
    rounds = 3;
    const third = fail('a');
    expect(third).toMatchObject({ content: expect.stringContaining('3 times'), stop: undefined });
    rounds = 4;
    expect(fail('a').stop).toMatchObject({ reason: 'loop' });
  });

  test('is counted from zero after a different result', async () => {
    let number = 0;
    const harness = await swarm(6, 1, {
      gate: () => {
        number += 1;
        if (number % 3 === 0) return { content: 'It is open.' };
        throw new ToolFailure('The gate is shut.');
      },
    });
    await harness.say('begin');
    await harness.lead.stopped;
    expect(swarmWarnings(harness)).toBe(0);
  });
});

describe('two teammates that send each other the same message', () => {
  const mate = (name: string) => task(`you are ${name}`, { ...EXPLORER, name, team_name: 'ours' });

  /** Two agents that send each received text back to each other. */
  const swarm = (messageOf: (number: number) => string) => {
    let letters = 0;
    return swarmHarness(
      ({ last, said, turn }): Answer => {
        const mine = ['ann', 'bob'].find((name) => said[0]?.includes(`you are ${name}`));
        if (mine === undefined) {
          const all = ['ann', 'bob'].map((name) => calls(`t_${name}`, 'Task', mate(name)));
          return turn === 0 ? all : [says('heard')];
        }
        const isCalled = last.includes('agent-message') || (mine === 'ann' && turn === 0);
        if (!isCalled || letters >= 40) return [says('sent')];
        letters += 1;
        const to = mine === 'ann' ? 'bob' : 'ann';
        return [calls(`m${letters}`, 'SendMessage', { to, message: messageOf(letters) })];
      },
      { staysIdle: true, tools: [sendMessage] },
    );
  };
  const idleReasons = ({ items }: SwarmHarness) =>
    items.flatMap((it) => (it.type === 'agent.rested' ? [it.report.stop.reason] : []));
  const sent = ({ items }: SwarmHarness) =>
    items.filter((it) => it.type === 'agent.feed' && it.item.type === 'tool.started').length;

  test('are stopped with the reason loop, which is reported to the parent', async () => {
    const harness = await swarm(() => 'Your turn.');
    await harness.say('begin');
    await allSettled(100);
    expect(sent(harness)).toBeLessThanOrEqual(22);
    expect(idleReasons(harness)).toContain('loop');
    await harness.lead.close();
  });

  test('continue while the messages differ', async () => {
    const harness = await swarm((number) => `Part ${number}.`);
    await harness.say('begin');
    await allSettled(200);
    expect([sent(harness), idleReasons(harness).includes('loop')]).toEqual([40, false]);
    await harness.lead.close();
  });
});
