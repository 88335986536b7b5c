/** A lead and the agents that work for it, in one process. */
import { expect, test } from 'vitest';
import { calls, says } from '../fakes/scripted-model.js';
import { allSettled, swarmInHand, task } from './swarm-in-hand.js';

const explore = (what: string) => task(what, { subagent_type: 'explorer' });

test('the result of Task is the report of the agent that it started', async () => {
  const hand = await swarmInHand(({ last }) => {
    if (last.includes('begin')) return [calls('c1', 'Task', explore('find the parser'))];
    if (last.includes('find the parser')) return [says('It is in src/parser.ts.')];
    return [says('done')];
  });

  await hand.say('begin');
  await allSettled();

  expect(hand.results().c1).toContain('It is in src/parser.ts.');
  expect(hand.results().c1).toContain('a_');
});
