/** Errors of Task calls that cannot be carried out. */
import { expect, test } from 'vitest';
import type { SwarmSetup } from '../../../src/actors/tree/swarm-context.js';
import { calls, says } from '../../fakes/agents/scripted-model.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import { allSettled, swarmHarness, task } from '../swarm/swarm-harness.js';

/** Result of a Task call if these agent types are defined. */
const resultOf = async (
  input: Record<string, unknown>,
  types: readonly string[],
  unusable: SwarmSetup['unusable'] = [],
) => {
  const harness = await swarmHarness(
    ({ turn }) => (turn === 0 ? [calls('c1', 'Task', task('a part', input))] : [says('done')]),
    { swarm: { definitions: types.map((name) => agentDefinition({ name })), unusable } },
  );
  await harness.say('begin');
  await allSettled();
  expect(await harness.store.agents(harness.lead.id)).toEqual([harness.lead.meta.lead]);
  return harness.results().c1;
};

test('an unknown agent type is rejected with the list of types, the most similar first', async () => {
  expect(await resultOf({ subagent_type: 'Plan' }, ['explorer', 'planner', 'tester'])).toBe(
    'error: There is no agent type "Plan". The types are: planner, explorer, tester. Leave out subagent_type for a fork.',
  );
});

test('a preview for an unknown agent type is rejected with the same message', async () => {
  expect(await resultOf({ subagent_type: 'Plan', model: 'haiku', preview: 3 }, ['planner'])).toBe(
    'error: There is no agent type "Plan". The types are: planner. Leave out subagent_type for a fork.',
  );
});

test('an agent type with an invalid definition is rejected with the problem', async () => {
  const problem = '/a/scout.md does not describe an agent, at line 3: tools: write names of tools.';
  const unusable = [{ name: 'scout', problem }];
  expect(await resultOf({ subagent_type: 'scout' }, ['planner'], unusable)).toBe(
    `error: There is no agent type "scout", because ${problem} The types are: planner. Leave out subagent_type for a fork.`,
  );
  expect(await resultOf({ subagent_type: 'scout' }, [], unusable)).toBe(
    `error: There is no agent type "scout", because ${problem} Leave out subagent_type for a fork.`,
  );
});

test('the list of agent types is cut after 40, and an empty list is reported', async () => {
  const many = Array.from({ length: 1_000 }, (_, at) => `t${at}`);
  expect(await resultOf({ subagent_type: 'x' }, many)).toMatch(/t38, t39 and 960 more\. Leave/);
  expect(await resultOf({ subagent_type: 'x' }, [])).toContain('no types are defined');
});

test('a fork with another model is rejected because it would lose the cache', async () => {
  expect(await resultOf({ model: 'haiku' }, [])).toMatch(
    /^error: A fork runs on the model of the agent/,
  );
});
