/** A model that asks for agents without end is stopped by limits and budget, and nothing is lost. */
import { describe, expect, test } from 'vitest';
import { type Answer, calls, says } from '../../fakes/agents/scripted-model.js';
import type { LeadOptions } from '../session/lead-in-hand.js';
import { histories } from '../swarm/planned-swarm.js';
import { type SwarmInHand, swarmInHand, type Talk, task } from '../swarm/swarm-in-hand.js';

const TYPED = { subagent_type: 'explorer' };
const KINDS = [{}, TYPED, { ...TYPED, run_in_background: true }];
const LIMITS = { maxAgents: 8, maxConcurrentAgents: 3, maxDepth: 3 };

/** Every agent asks for so many more, until it has had enough. */
const storm = async (
  width: number,
  isEnough: (talk: Talk) => boolean,
  options: Partial<Omit<LeadOptions, 'model'>> = {},
): Promise<SwarmInHand> => {
  let asked = 0;
  const manyMore = (): Answer => {
    asked += 1;
    const all = Array.from({ length: width }, (_, at) =>
      calls(`c${asked}_${at}`, 'Task', task('storm', KINDS[at % KINDS.length])),
    );
    return [says('I need help.'), ...all];
  };
  const hand = await swarmInHand(
    (talk) => (isEnough(talk) ? [says('I did the rest myself.')] : manyMore()),
    { swarm: { limits: LIMITS }, ...options },
  );
  await hand.say('storm');
  await hand.lead.stopped;
  await hand.lead.close();
  return hand;
};

/** Everybody who began has ended on record, and no call is without a result. */
const expectNothingLost = async (hand: SwarmInHand): Promise<void> => {
  const known = [...(await histories(hand)).values()];
  expect(known).toHaveLength(hand.items.filter(({ type }) => type === 'agent.spawned').length + 1);
  expect(known.filter(({ ended }) => ended?.final !== true)).toEqual([]);
  const open = known.flatMap((it) =>
    [...it.calls.values()].filter(({ result }) => result === null),
  );
  expect(open).toEqual([]);
};

const isRefused = ({ last }: Talk) => /is the limit|would be deeper|has ended/.test(last);

describe('a storm of spawns', () => {
  test('is over when all who asked are refused, and the answer of the lead is kept', async () => {
    const hand = await storm(300, isRefused);
    expect((await hand.lead.stopped).stop.reason).toBe('end_turn');
    expect(hand.items.filter(({ type }) => type === 'agent.spawned')).toHaveLength(8);
    const said = hand.items.findLast((it) => it.type === 'assistant.message');
    expect(JSON.stringify(said)).toContain('I did the rest myself.');
    await expectNothingLost(hand);
  });

  test('of a model that takes no refusal ends by itself', async () => {
    const hand = await storm(30, () => false);
    // Sooner than one whose calls keep failing: all of them are refused in the same words.
    expect((await hand.lead.stopped).stop.reason).toBe('loop');
    await expectNothingLost(hand);
  });

  test('is ended by a budget, too', async () => {
    const hand = await storm(30, () => false, { maxBudgetUsd: 0.01 });
    expect((await hand.lead.stopped).stop.reason).toBe('budget');
    await expectNothingLost(hand);
  });
});
