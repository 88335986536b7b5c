/** A model that asks for agents without end is stopped by limits and budget, and nothing is lost. */
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

/** Every agent asks for so many more, until it has had enough. */
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

/** Everybody who began has ended on record, and no call is without a result. */
const expectNothingLost = async (harness: SwarmHarness): Promise<void> => {
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
  test('is over when all who asked are refused, and the answer of the lead is kept', async () => {
    const harness = await storm(300, isRefused);
    expect((await harness.lead.stopped).stop.reason).toBe('end_turn');
    expect(harness.items.filter(({ type }) => type === 'agent.spawned')).toHaveLength(8);
    const said = harness.items.findLast((it) => it.type === 'assistant.message');
    expect(JSON.stringify(said)).toContain('I did the rest myself.');
    await expectNothingLost(harness);
  });

  test('of a model that takes no refusal ends by itself', async () => {
    const harness = await storm(30, () => false);
    // Sooner than one whose calls keep failing: all of them are refused in the same words.
    expect((await harness.lead.stopped).stop.reason).toBe('loop');
    await expectNothingLost(harness);
  });

  test('is ended by a budget, too', async () => {
    const harness = await storm(30, () => false, { maxBudgetUsd: 0.01 });
    expect((await harness.lead.stopped).stop.reason).toBe('budget');
    await expectNothingLost(harness);
  });
});
