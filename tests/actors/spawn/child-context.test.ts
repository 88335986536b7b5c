/** Role in the first message of a typed agent that starts after a restart of the process. */
import { describe, expect, test } from 'vitest';
import { calls, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import { allSettled, conversationOf, swarmHarness, task } from '../swarm/swarm-harness.js';

const explorer = (prompt: string) =>
  task(prompt, { description: prompt.toUpperCase(), subagent_type: 'explorer' });

/** Resumes a swarm whose second agent was queued for the only slot, so it had sent no request. */
const resumedWith = async (definitions: readonly ReturnType<typeof agentDefinition>[]) => {
  const limits = { maxAgents: 10, maxConcurrentAgents: 1, maxDepth: 3 };
  const slow = await swarmHarness(
    ({ last }) =>
      last.includes('begin')
        ? [calls('c1', 'Task', explorer('left')), calls('c2', 'Task', explorer('right'))]
        : [waits(gate().opened), says('never said')],
    { swarm: { limits } },
  );
  await slow.say('begin');
  await allSettled();
  expect(slow.requests).toHaveLength(2);
  await slow.lead.close();
  const { store, clock } = slow;
  const choice = { kind: 'resume', id: slow.lead.id } as const;
  const swarm = { limits, definitions };
  const harness = await swarmHarness(() => [says('done')], { store, clock, choice, swarm });
  harness.lead.start();
  await allSettled();
  const notices = harness.items.flatMap((item) => (item.type === 'notice' ? [item.text] : []));
  const sent = (text: string) =>
    harness.requests.map(conversationOf).find(({ said }) => said[0]?.includes(text))?.said[0] ?? '';
  return { harness, notices, left: sent('left'), right: sent('right') };
};

describe('a typed agent that has not started when its process ends', () => {
  test('gets its role in the next process', async () => {
    const { right, notices } = await resumedWith([agentDefinition()]);
    expect(right).toContain('You explore.');
    expect(notices).toEqual([]);
  });

  test('gets a note instead of its role if its definition is gone, and a notice is shown', async () => {
    const { harness, left, right, notices } = await resumedWith([]);
    expect(left).toContain('You explore.');
    expect(right).toContain('You are the agent "explorer". Another agent gives you');
    expect(right).toContain('definition of this role no longer exists');
    expect(notices).toEqual([
      'explorer a_3 "RIGHT" works without its role: "explorer" is no longer defined. Its permissions are unchanged.',
    ]);
    expect(harness.results().c2).toContain('done');
  });
});
