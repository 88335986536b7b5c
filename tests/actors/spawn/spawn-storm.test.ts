/** Endless spawn requests of a model, stopped by limits and budget without lost records. */
import { describe, expect, test } from 'vitest';
import { type Answer, calls, says } from '../../fakes/agents/scripted-model.js';
import type { LeadOptions } from '../session/lead-harness.js';
import { histories } from '../swarm/planned-swarm.js';
import {
  type Conversation,
  type SwarmHarness,
  swarmHarness,
  task,
} from '../swarm/swarm-harness.js';

const TYPED = { subagent_type: 'explorer' };
const KINDS = [{}, TYPED, { ...TYPED, run_in_background: true }];
const LIMITS = { maxAgents: 8, maxConcurrentAgents: 3, maxDepth: 3 };

/** Runs a swarm in which every agent spawns `width` agents per turn until `isEnough`. */
const storm = async (
  width: number,
  isEnough: (conversation: Conversation) => boolean,
  options: Partial<Omit<LeadOptions, 'model'>> = {},
): Promise<SwarmHarness> => {
  let asked = 0;
  const manyMore = (): Answer => {
    asked += 1;
    const all = Array.from({ length: width }, (_, at) =>
      calls(`c${asked}_${at}`, 'Task', task('storm', KINDS[at % KINDS.length])),
    );
    return [says('I need help.'), ...all];
  };
  const harness = await swarmHarness(
    (conversation) => (isEnough(conversation) ? [says('I did the rest myself.')] : manyMore()),
    { swarm: { limits: LIMITS }, ...options },
  );
  await harness.say('storm');
  await harness.lead.stopped;
  await harness.lead.close();
  return harness;
};

/** Expects that every started agent has a final record and every call has a result. */
const expectAllRecorded = async (harness: SwarmHarness): Promise<void> => {
  const known = [...(await histories(harness)).values()];
  expect(known).toHaveLength(
    harness.items.filter(({ type }) => type === 'agent.spawned').length + 1,
  );
  expect(known.filter(({ ended }) => ended?.final !== true)).toEqual([]);
  const open = known.flatMap((it) =>
    [...it.calls.values()].filter(({ result }) => result === null),
  );
  expect(open).toEqual([]);
};

const isRefused = ({ last }: Conversation) => /is the limit|would be deeper|has ended/.test(last);

describe('a storm of spawns', () => {
  test('ends when all spawns are refused, and the last answer of the lead is kept', async () => {
    const harness = await storm(300, isRefused);
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
    expect(harness.items.filter(({ type }) => type === 'agent.spawned')).toHaveLength(8);
    const lastMessage = harness.items.findLast((it) => it.type === 'assistant.message');
    expect(JSON.stringify(lastMessage)).toContain('I did the rest myself.');
    await expectAllRecorded(harness);
  });

  test('ends with the stop reason loop if the model ignores refusals', async () => {
    const harness = await storm(30, () => false);
    // The loop detector acts before the limit of failed turns, because all refusals are equal.
    expect((await harness.lead.stopped).stop.reason).toBe('loop');
    await expectAllRecorded(harness);
  });

  test('ends when the budget is spent', async () => {
    const harness = await storm(30, () => false, { maxBudgetUsd: 0.01 });
    expect((await harness.lead.stopped).stop.reason).toBe('budget');
    await expectAllRecorded(harness);
  });
});
