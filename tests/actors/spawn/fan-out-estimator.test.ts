/** What a fan-out may cost is told before it begins, and to a lead that asks. */
import { describe, expect, test } from 'vitest';
import { type Answer, calls, says } from '../../fakes/agents/scripted-model.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import { type SwarmHarness, swarmHarness, task } from '../swarm/swarm-harness.js';

const explorers = (count: number): Answer =>
  Array.from({ length: count }, (_, at) =>
    calls(`c${at}`, 'Task', task('look', { subagent_type: 'explorer' })),
  );

/** Calls for so many of each type; no type is a fork. */
const mixed = (wanted: readonly (readonly [number, object])[]): Answer =>
  wanted.flatMap(([count, more], group) =>
    Array.from({ length: count }, (_, at) =>
      calls(`c${group}.${at}`, 'Task', task(`look ${group}`, { description: 'look', ...more })),
    ),
  );

const TYPES = ['explorer', 'reviewer', 'planner'].map((name) => agentDefinition({ name }));

/** A lead that answers so, turn by turn, and agents that look once. */
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

/** In order: what was previewed, and who began. */
const told = ({ items }: SwarmHarness): readonly (string | number)[] =>
  items.flatMap((it) => {
    if (it.type === 'fan-out.previewed') return [`${it.preview.count} by ${it.preview.observed}`];
    return it.type === 'agent.spawned' ? [it.agent.call] : [];
  });

const previews = ({ items }: SwarmHarness) =>
  items.flatMap((it) => (it.type === 'fan-out.previewed' ? [it.preview] : []));

describe('people are told what a fan-out may cost', () => {
  test('once for each that is large, before anybody begins, and better the second time', async () => {
    const spawned = Array.from({ length: 10 }, (_, at) => `c${at}`);
    const harness = await run(explorers(10), explorers(10));
    expect(told(harness)).toEqual(['10 by 0', ...spawned, '10 by 10', ...spawned]);
  });

  test('but not for a small one', async () => {
    const harness = await run(explorers(9));
    expect(told(harness).filter((it) => String(it).includes('by'))).toEqual([]);
  });

  test('for all that a message asks for, of whatever types they are', async () => {
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

  test('as unknown where the price of one of their models is', async () => {
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

  test('without what is only asked about, and what is of no type that there is', async () => {
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

test('what agents would cost is told for the model that was asked for', async () => {
  const wanted = task('look', { subagent_type: 'explorer', model: 'claude-haiku-5-5', preview: 3 });
  const harness = await run([calls('p', 'Task', wanted)]);
  expect(harness.results().p).toContain('3 of explorer on claude-haiku-5-5 would cost');
});

test('what forks would cost on another model is not told, for there are none', async () => {
  const harness = await run([
    calls('p', 'Task', task('look', { model: 'claude-haiku-5-5', preview: 3 })),
  ]);
  expect(harness.results().p).toMatch(/^error: A fork runs on the model of the agent/);
});

test('a lead that asks what agents would cost is told, and none begins', async () => {
  const wanted = task('look', { subagent_type: 'explorer', preview: 30 });
  const harness = await run([calls('p', 'Task', wanted)]);
  expect(told(harness)).toEqual([]);
  expect(harness.results().p).toMatch(
    /^Nothing was started\. 30 of explorer on claude-opus-5-5 would cost about \$[\d.]+ to \$[\d.]+ with the cache, \$[\d.]+ to \$[\d.]+ without it\. A guess/,
  );
});
