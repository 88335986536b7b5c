/** Owner names of agents in the shared task list, and hooks on its tasks. */
import { describe, expect, test } from 'vitest';
import type { HookFunction } from '../../../src/protocol/permission/hook-setup.js';
import type { HookEvent } from '../../../src/protocol/permission/hooks.js';
import type { ToolContext } from '../../../src/protocol/tools/tool.js';
import { createTask } from '../../../src/tools/tasks/create-task.js';
import { getTask } from '../../../src/tools/tasks/get-task.js';
import { listTasks } from '../../../src/tools/tasks/list-tasks.js';
import { updateTask } from '../../../src/tools/tasks/update-task.js';
import { hookFunction } from '../../fakes/agents/hook-functions.js';
import { type Answer, calls, gate, says } from '../../fakes/agents/scripted-model.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import type { LeadOptions } from '../session/lead-harness.js';
import {
  allSettled,
  conversationOf,
  type SwarmHarness,
  swarmHarness,
  task,
} from '../swarm/swarm-harness.js';

const TOOLS = [createTask, updateTask, getTask, listTasks];
const order = (subject: string) => ({ subject, description: `About ${subject}.` });
const creates = (id: string, subject: string) => calls(id, 'TaskCreate', order(subject));
const updates = (id: string, taskId: string, change: object) =>
  calls(id, 'TaskUpdate', { taskId, ...change });
const BACKGROUND = { subagent_type: 'explorer', run_in_background: true };
const spawns = (id: string, prompt: string, name?: string) =>
  calls(id, 'Task', task(prompt, { ...BACKGROUND, description: id, ...(name && { name }) }));

/** Runs a swarm. Keys are texts of the first prompt (lead: `begin`), values the answers by turn. */
const swarm = async (
  answers: Readonly<Record<string, readonly Answer[]>>,
  options: Partial<Omit<LeadOptions, 'model'>> = {},
): Promise<SwarmHarness> => {
  const harness = await swarmHarness(
    ({ said, turn }) => {
      const [, turns = []] =
        Object.entries(answers).find(([text]) => said[0]?.includes(text)) ?? [];
      return turns[turn] ?? [says('ok')];
    },
    { tools: TOOLS, ...options },
  );
  await harness.say('begin');
  await allSettled();
  return harness;
};

const tasksIn = async ({ store, lead }: SwarmHarness) =>
  (await store.taskList(lead.id).list()).map(({ id, status, owner }) => [id, status, owner]);

/** Last request of an agent, by a text of its first prompt. */
const lastRequestOf = ({ requests }: SwarmHarness, text: string): string =>
  requests.findLast((request) => conversationOf(request).said[0]?.includes(text))?.body ?? '';

describe('an agent that uses the shared task list', () => {
  test('owns a task that it starts first, and another agent gets the name of the owner', async () => {
    const claim = [[updates('c9', '1', { status: 'in_progress' })]];
    const harness = await swarm({
      begin: [[creates('c1', 'fly')], [spawns('c2', 'job one', 'ann'), spawns('c3', 'job two')]],
      'job one': claim,
      'job two': claim,
    });
    expect(await tasksIn(harness)).toEqual([['1', 'in_progress', 'ann']]);
    expect(lastRequestOf(harness, 'job one')).toContain('Task 1 is now: in_progress, owner ann.');
    expect(lastRequestOf(harness, 'job two')).toContain('Task 1 is owned by ann (in_progress)');
  });

  test('carries out a call even if its id equals the id of an earlier call', async () => {
    const harness = await swarm({
      begin: [
        [creates('x', 'first')],
        [creates('x', 'second')],
        [updates('x', '2', { status: 'in_progress' })],
      ],
    });
    expect(await tasksIn(harness)).toEqual([
      ['1', 'pending', undefined],
      ['2', 'in_progress', 'lead'],
    ]);
  });

  test('is not mixed up with another agent of its name or with the lead', async () => {
    const claim = (id: string) => [[updates('c9', id, { status: 'in_progress' })]];
    // Task refuses this name, but sessions of older versions may contain it.
    const order = {
      call: 'c6',
      description: 'c6',
      prompt: 'job 3',
      type: 'explorer',
      name: 'lead',
      background: true,
      team: undefined,
      model: undefined,
      isolation: undefined,
    };
    const effects = {
      asLead: async ({ agents, signal }: ToolContext) => {
        await agents?.spawn(order, signal);
        return { content: 'started' };
      },
    };
    const jobs = { 'job 1': claim('1'), 'job 2': claim('2'), 'job 3': claim('3') };
    const begin = [
      [creates('c1', 'a'), creates('c2', 'b'), creates('c3', 'c')],
      [spawns('c4', 'job 1', 'ann'), spawns('c5', 'job 2', 'ann')],
      [calls('c6', 'Look', { name: 'asLead' })],
    ];
    const harness = await swarm({ begin, ...jobs }, { effects });
    const ids = harness.items.flatMap((it) => (it.type === 'agent.spawned' ? [it.agent.id] : []));
    expect(await tasksIn(harness)).toEqual([
      ['1', 'in_progress', 'ann'],
      ['2', 'in_progress', ids[1]],
      ['3', 'in_progress', ids[2]],
    ]);
  });

  test('is assigned a task by name or id, and the lead can reassign an owned task', async () => {
    const harness = await swarm({
      begin: [
        [creates('c1', 'a'), creates('c2', 'b'), creates('c3', 'c')],
        [spawns('c4', 'job 1', 'ann')],
        [updates('c5', '1', { owner: 'ann' }), updates('c6', '2', { owner: 'a_2' })],
        [updates('c7', '3', { owner: 'later' }), updates('c8', '2', { owner: 'lead' })],
        [updates('c9', '2', { status: 'in_progress' })],
      ],
    });
    expect(await tasksIn(harness)).toEqual([
      ['1', 'pending', 'ann'],
      ['2', 'in_progress', 'lead'],
      ['3', 'pending', 'later'],
    ]);
    expect(lastRequestOf(harness, 'begin')).toContain('Task 2 is now: pending, owner ann.');
  });

  test('has the task tools only if its definition allows them', async () => {
    const definition = agentDefinition({ tools: ['Look'] });
    const harness = await swarm(
      { begin: [[spawns('c1', 'job 1')]], 'job 1': [[creates('c2', 'fly')]] },
      { swarm: { definitions: [definition] } },
    );
    expect(await tasksIn(harness)).toEqual([]);
    expect(lastRequestOf(harness, 'job 1')).toContain(
      'The definition of the agent explorer does not allow TaskCreate',
    );
  });
});

const watching = (event: HookEvent, answer: HookFunction = () => undefined) => {
  const seen: Readonly<Record<string, unknown>>[] = [];
  const hook = hookFunction(event, (input, call, options) => {
    seen.push(input);
    return answer(input, call, options);
  });
  return { seen, hook };
};
const blocks = () => ({ decision: 'block', reason: 'the tests fail' });

describe('a hook of the shared task list', () => {
  test('gets a new task and can block its creation', async () => {
    const { seen, hook } = watching('TaskCreated', blocks);
    const harness = await swarm({ begin: [[creates('c1', 'fly')]] }, { hooks: [hook] });
    expect(seen).toMatchObject([
      { hook_event_name: 'TaskCreated', task_subject: 'fly', task_description: 'About fly.' },
    ]);
    expect(seen[0]).not.toHaveProperty('teammate_name');
    expect(harness.results().c1).toBe(
      'error: The task was not created. A hook says: the tests fail',
    );
    expect(await tasksIn(harness)).toEqual([]);
  });

  test('gets a completed task with its agent and can block the completion', async () => {
    const { seen, hook } = watching('TaskCompleted', blocks);
    const harness = await swarm(
      {
        begin: [[creates('c1', 'fly')], [spawns('c2', 'job one', 'ann')]],
        'job one': [
          [updates('c3', '1', { status: 'in_progress' })],
          [updates('c4', '1', { status: 'completed', subject: 'fly south' })],
        ],
      },
      { hooks: [hook] },
    );
    expect(seen).toMatchObject([
      {
        task_id: '1',
        task_subject: 'fly south',
        teammate_name: 'ann',
        agent_id: 'a_2',
      },
    ]);
    expect(await tasksIn(harness)).toEqual([['1', 'in_progress', 'ann']]);
    expect(lastRequestOf(harness, 'job one')).toContain(
      'The task was not completed. A hook says: the',
    );
  });

  test('does not run for rejected updates or tasks that are already completed', async () => {
    const creation = watching('TaskCreated');
    const long = { ...order('x'), metadata: { x: 'x'.repeat(5_000) } };
    await swarm({ begin: [[calls('c1', 'TaskCreate', long)]] }, { hooks: [creation.hook] });
    expect(creation.seen).toEqual([]);
    const { seen, hook } = watching('TaskCompleted');
    const harness = await swarm(
      {
        begin: [
          [creates('c1', 'fly'), creates('c2', 'land')],
          [updates('c3', '2', { addBlockedBy: ['1'] }), updates('c4', '2', DONE)],
          [updates('c5', '1', DONE), updates('c6', '1', DONE), updates('c7', '9', DONE)],
        ],
      },
      { hooks: [hook] },
    );
    expect(seen.map(({ task_id }) => task_id)).toEqual(['1']);
    expect(await tasksIn(harness)).toEqual([
      ['1', 'completed', undefined],
      ['2', 'pending', undefined],
    ]);
  });

  test('can add context for the model and end the run', async () => {
    const adds = watching('TaskCreated', () => ({
      hookSpecificOutput: { hookEventName: 'TaskCreated', additionalContext: 'Mind the wind.' },
    }));
    const ends = watching('TaskCompleted', () => ({ continue: false, stopReason: 'Enough.' }));
    const harness = await swarm(
      { begin: [[creates('c1', 'fly')], [updates('c2', '1', DONE)]] },
      { hooks: [adds.hook, ends.hook] },
    );
    const context = '<hook-context>\\nMind the wind.\\n</hook-context>';
    expect(lastRequestOf(harness, 'begin')).toContain(context);
    expect(await tasksIn(harness)).toEqual([['1', 'pending', undefined]]);
    const ended = harness.items.flatMap((it) => (it.type === 'run.ended' ? [it.stop] : []));
    expect(ended).toMatchObject([{ reason: 'denied', detail: 'Enough.' }]);
    expect(harness.requests).toHaveLength(2);
  });

  test('that is interrupted does not let the task be created', async () => {
    const hookGate = gate();
    const { seen, hook } = watching('TaskCreated', () => hookGate.opened);
    const harness = await swarm({ begin: [[creates('c1', 'fly')]] }, { hooks: [hook] });
    harness.lead.interrupt();
    await allSettled();
    hookGate.open();
    await allSettled();
    expect(seen).toHaveLength(1);
    expect(await tasksIn(harness)).toEqual([]);
  });
});

const DONE = { status: 'completed' };
