/** Cost preview of a fan-out, shown before it starts and returned to a lead that requests it. */
import { describe, expect, test } from 'vitest';
import { type Answer, calls, says } from '../../fakes/agents/scripted-model.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import { type SwarmHarness, swarmHarness, task } from '../swarm/swarm-harness.js';

const explorers = (count: number): Answer =>
  Array.from({ length: count }, (_, at) =>
    calls(`c${at}`, 'Task', task('look', { subagent_type: 'explorer' })),
  );

/** Task calls: a number of agents for each input. An input without a type makes forks. */
const mixed = (groups: readonly (readonly [number, object])[]): Answer =>
  groups.flatMap(([count, more], group) =>
    Array.from({ length: count }, (_, at) =>
      calls(`c${group}.${at}`, 'Task', task(`look ${group}`, { description: 'look', ...more })),
    ),
  );

const TYPES = ['explorer', 'reviewer', 'planner'].map((name) => agentDefinition({ name }));

/** Runs a lead with an answer per turn and agents that answer once. */
const run = async (...turns: readonly Answer[]): Promise<SwarmHarness> => {
  const harness = await swarmHarness(
    ({ said, last, turn }) => {
      if (/look \d/.test(last)) return [says('seen')];
      return said[0]?.includes('begin') ? (turns[turn] ?? [says('done')]) : [says('seen')];
    },
    { swarm: { definitions: TYPES } },
  );
  await harness.say('begin');
  await harness.lead.stopped;
  return harness;
};

/** Previews and started agents in order. */
const feedOf = ({ items }: SwarmHarness): readonly (string | number)[] =>
  items.flatMap((it) => {
    if (it.type === 'fan-out.previewed') return [`${it.preview.count} by ${it.preview.observed}`];
    return it.type === 'agent.spawned' ? [it.agent.call] : [];
  });

const previews = ({ items }: SwarmHarness) =>
  items.flatMap((it) => (it.type === 'fan-out.previewed' ? [it.preview] : []));

describe('a cost preview', () => {
  test('is shown for each large fan-out before an agent starts, the second with observed costs', async () => {
    const spawned = Array.from({ length: 10 }, (_, at) => `c${at}`);
    const harness = await run(explorers(10), explorers(10));
    expect(feedOf(harness)).toEqual(['10 by 0', ...spawned, '10 by 10', ...spawned]);
  });

  test('is not shown for fewer than ten agents', async () => {
    const harness = await run(explorers(9));
    expect(feedOf(harness).filter((it) => String(it).includes('by'))).toEqual([]);
  });

  test('covers all agents of a message, of all types', async () => {
    const many = TYPES.map(({ name }) => [9, { subagent_type: name }] as const);
    const [whole, ...others] = previews(await run(mixed(many)));
    expect(others).toEqual([]);
    expect(whole).toMatchObject({ count: 27, model: 'claude-opus-5-5' });
    const [explorers] = previews(await run(mixed([[10, { subagent_type: 'explorer' }]])));
    const [both] = previews(
      await run(
        mixed([
          [10, { subagent_type: 'explorer' }],
          [30, {}],
        ]),
      ),
    );
    const [forks] = previews(await run(mixed([[30, {}]])));
    expect(both?.count).toBe(40);
    for (const end of [0, 1] as const) {
      const sum = (explorers?.withCache?.[end] ?? 0) + (forks?.withCache?.[end] ?? 0);
      expect(both?.withCache?.[end]).toBeCloseTo(sum, 3);
    }
  });

  test('has unknown costs if the price of a model is unknown', async () => {
    const harness = await run(
      mixed([
        [9, { subagent_type: 'explorer' }],
        [1, { subagent_type: 'explorer', model: 'goose-1' }],
      ]),
    );
    expect(previews(harness)).toEqual([
      {
        count: 10,
        model: 'claude-opus-5-5, goose-1',
        observed: 0,
        withCache: null,
        withoutCache: null,
      },
    ]);
  });

  test('does not count calls for a preview and calls with an unknown type', async () => {
    const harness = await run(
      mixed([
        [9, { subagent_type: 'explorer' }],
        [5, { subagent_type: 'explorer', preview: 30 }],
        [5, { subagent_type: 'nobody' }],
      ]),
    );
    expect(previews(harness)).toEqual([]);
  });
});

test('the Task preview uses the requested model', async () => {
  const input = task('look', { subagent_type: 'explorer', model: 'claude-haiku-5-5', preview: 3 });
  const harness = await run([calls('p', 'Task', input)]);
  expect(harness.results().p).toContain('3 of explorer on claude-haiku-5-5 would cost');
});

test('the Task preview rejects forks on another model', async () => {
  const harness = await run([
    calls('p', 'Task', task('look', { model: 'claude-haiku-5-5', preview: 3 })),
  ]);
  expect(harness.results().p).toMatch(/^error: A fork runs on the model of the agent/);
});

test('the Task preview returns the estimated cost and starts no agent', async () => {
  const input = task('look', { subagent_type: 'explorer', preview: 30 });
  const harness = await run([calls('p', 'Task', input)]);
  expect(feedOf(harness)).toEqual([]);
  expect(harness.results().p).toMatch(
    /^Nothing was started\. 30 of explorer on claude-opus-5-5 would cost about \$[\d.]+ to \$[\d.]+ with the cache, \$[\d.]+ to \$[\d.]+ without it\. A guess/,
  );
});
