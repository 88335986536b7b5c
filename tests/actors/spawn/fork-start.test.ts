/** What forks of one message begin with, though the world goes on while some of them wait (law 2). */
import { describe, expect, test } from 'vitest';
import { changingContext } from '../../fakes/agents/changing-context.js';
import { calls, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import {
  allSettled,
  type Conversation,
  conversationOf,
  swarmHarness,
  task,
} from '../swarm/swarm-harness.js';

const TWO = [calls('c1', 'Task', task('left')), calls('c2', 'Task', task('right'))];
/** The second one waits for the place of the first. */
const ONE_AT_A_TIME = { maxAgents: 10, maxConcurrentAgents: 1, maxDepth: 3 };

const isFork = ({ said }: Conversation, which: string): boolean =>
  said.some((words) => words.includes(`<fork-task>\n${which}`));

/** All that a fork sends ahead of its task. */
const beginningOf = ({ body }: Conversation): string => body.slice(0, body.indexOf('<fork-task>'));

const firstOf = (talks: readonly Conversation[], which: string): Conversation => {
  const found = talks.find((conversation) => isFork(conversation, which));
  if (found === undefined) throw new Error(`${which} has sent nothing.`);
  return found;
};

describe('forks of one message', () => {
  test.each([
    ['another branch', { facts: { date: 'Monday', branch: 'other' } }],
    ['a section that says something else', { sections: { goose: 'Be a swan.' } }],
  ])('begin alike, and hear of %s only after their task', async (_, change) => {
    const contextProvider = changingContext({ mayChange: true, facts: { date: 'Monday' } });
    const harness = await swarmHarness(
      (conversation) => {
        if (conversation.last.includes('begin')) return TWO;
        if (isFork(conversation, 'left')) Object.assign(contextProvider.world, change);
        if (conversation.last.includes('<fork-task>')) return [calls('l1', 'Look', { name: 'a' })];
        return [says('done')];
      },
      { contextProvider, swarm: { limits: ONE_AT_A_TIME } },
    );

    await harness.say('begin');
    await allSettled();

    const talks = harness.requests.map(conversationOf);
    const right = firstOf(talks, 'right');
    expect(beginningOf(right)).toBe(beginningOf(firstOf(talks, 'left')));
    const [, next] = talks.filter((conversation) => isFork(conversation, 'right'));
    expect(next?.body).toMatch(/The branch is other\.|Be a swan\./);
    expect(right.body).not.toMatch(/The branch is other\.|Be a swan\./);
  });

  test.each([
    ['has sent nothing', ONE_AT_A_TIME],
    ['was not answered', { ...ONE_AT_A_TIME, maxConcurrentAgents: 2 }],
  ])('begin alike also where one that %s is taken up again', async (_, limits) => {
    const door = gate();
    const facts = { date: 'Monday' };
    const slow = await swarmHarness(
      ({ last }) => (last.includes('begin') ? TWO : [waits(door.opened), says('never said')]),
      { contextProvider: changingContext({ facts }), swarm: { limits } },
    );
    await slow.say('begin');
    await allSettled();
    await slow.lead.close();

    const { store, clock } = slow;
    const contextProvider = changingContext({
      facts: { date: 'Tuesday' },
      sections: { goose: 'Be a swan.' },
      isStale: true,
      mayChange: true,
    });
    const harness = await swarmHarness(() => [says('done')], {
      store,
      clock,
      contextProvider,
      choice: { kind: 'resume', id: slow.lead.id },
    });
    harness.lead.start();
    await allSettled();

    const left = firstOf(slow.requests.map(conversationOf), 'left');
    const right = firstOf(harness.requests.map(conversationOf), 'right');
    expect(beginningOf(right)).toBe(beginningOf(left));
    expect(beginningOf(firstOf(harness.requests.map(conversationOf), 'left'))).toBe(
      beginningOf(left),
    );
  });

  test.each([
    ['little', ''],
    ['much', 'They fly in a wedge. '.repeat(200)],
  ])('mark the same where they share %s, also in another process', async (_, said) => {
    const sections = { goose: 'Be a goose. '.repeat(1_000) };
    const slow = await swarmHarness(
      (conversation) => {
        if (conversation.last.includes('begin')) return [...(said ? [says(said)] : []), ...TWO];
        return isFork(conversation, 'left')
          ? [says('done')]
          : [waits(gate().opened), says('never said')];
      },
      { contextProvider: changingContext({ sections }), swarm: { limits: ONE_AT_A_TIME } },
    );
    await slow.say('begin');
    await allSettled();
    await slow.lead.close();

    const { store, clock } = slow;
    const harness = await swarmHarness(() => [says('done')], {
      store,
      clock,
      contextProvider: changingContext({ sections }),
      choice: { kind: 'resume', id: slow.lead.id },
    });
    harness.lead.start();
    await allSettled();

    const [left, right] = ['left', 'right'].map((which) =>
      beginningOf(firstOf(slow.requests.map(conversationOf), which)),
    );
    expect(right).toBe(left);
    expect(beginningOf(firstOf(harness.requests.map(conversationOf), 'right'))).toBe(left);
  });
});
