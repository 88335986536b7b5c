/** What a fan-out may cost is told before it begins, and to a lead that asks. */
import { describe, expect, test } from 'vitest';
import { type Answer, calls, says } from '../fakes/scripted-model.js';
import { type SwarmInHand, swarmInHand, task } from './swarm-in-hand.js';

const explorers = (count: number): Answer =>
  Array.from({ length: count }, (_, at) =>
    calls(`c${at}`, 'Task', task('look', { subagent_type: 'explorer' })),
  );

/** A lead that answers so, turn by turn, and agents that look once. */
const run = async (...turns: readonly Answer[]): Promise<SwarmInHand> => {
  const hand = await swarmInHand(({ said, turn }) =>
    said[0]?.includes('begin') ? (turns[turn] ?? [says('done')]) : [says('seen')],
  );
  await hand.say('begin');
  await hand.lead.stopped;
  return hand;
};

/** In order: what was previewed, and who began. */
const told = ({ items }: SwarmInHand): readonly (string | number)[] =>
  items.flatMap((it) => {
    if (it.type === 'fan-out.previewed') return [`${it.preview.count} by ${it.preview.observed}`];
    return it.type === 'agent.spawned' ? [it.agent.call] : [];
  });

describe('people are told what a fan-out may cost', () => {
  test('once for each that is large, before anybody begins, and better the second time', async () => {
    const spawned = Array.from({ length: 10 }, (_, at) => `c${at}`);
    const hand = await run(explorers(10), explorers(10));
    expect(told(hand)).toEqual(['10 by 0', ...spawned, '10 by 10', ...spawned]);
  });

  test('but not for a small one', async () => {
    const hand = await run(explorers(9));
    expect(told(hand).filter((it) => String(it).includes('by'))).toEqual([]);
  });
});

test('what agents would cost is told for the model that was asked for', async () => {
  const wanted = task('look', { subagent_type: 'explorer', model: 'claude-haiku-5-5', preview: 3 });
  const hand = await run([calls('p', 'Task', wanted)]);
  expect(hand.results().p).toContain('3 of explorer on claude-haiku-5-5 would cost');
});

test('what forks would cost on another model is not told, for there are none', async () => {
  const hand = await run([
    calls('p', 'Task', task('look', { model: 'claude-haiku-5-5', preview: 3 })),
  ]);
  expect(hand.results().p).toMatch(/^error: A fork runs on the model of the agent/);
});

test('a lead that asks what agents would cost is told, and none begins', async () => {
  const wanted = task('look', { subagent_type: 'explorer', preview: 30 });
  const hand = await run([calls('p', 'Task', wanted)]);
  expect(told(hand)).toEqual([]);
  expect(hand.results().p).toMatch(
    /^Nothing was started\. 30 of explorer on claude-opus-5-5 would cost about \$[\d.]+ to \$[\d.]+ with the cache, \$[\d.]+ to \$[\d.]+ without it\. A guess/,
  );
});
