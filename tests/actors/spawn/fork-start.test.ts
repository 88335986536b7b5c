/** What forks of one message begin with, though the world goes on while some of them wait (law 2). */
import { describe, expect, test } from 'vitest';
import { changingContext } from '../../fakes/agents/changing-context.js';
import { calls, gate, says, waits } from '../../fakes/agents/scripted-model.js';
import { allSettled, swarmInHand, type Talk, talkOf, task } from '../swarm/swarm-in-hand.js';

const TWO = [calls('c1', 'Task', task('left')), calls('c2', 'Task', task('right'))];
/** The second one waits for the place of the first. */
const ONE_AT_A_TIME = { maxAgents: 10, maxConcurrentAgents: 1, maxDepth: 3 };

const isFork = ({ said }: Talk, which: string): boolean =>
  said.some((words) => words.includes(`<fork-task>\n${which}`));

/** All that a fork sends ahead of its task. */
const beginningOf = ({ body }: Talk): string => body.slice(0, body.indexOf('<fork-task>'));

const firstOf = (talks: readonly Talk[], which: string): Talk => {
  const found = talks.find((talk) => isFork(talk, which));
  if (found === undefined) throw new Error(`${which} has sent nothing.`);
  return found;
};

describe('forks of one message', () => {
  test.each([
    ['another branch', { facts: { date: 'Monday', branch: 'other' } }],
    ['a section that says something else', { sections: { goose: 'Be a swan.' } }],
  ])('begin alike, and hear of %s only after their task', async (_, change) => {
    const contextProvider = changingContext({ mayChange: true, facts: { date: 'Monday' } });
    const hand = await swarmInHand(
      (talk) => {
        if (talk.last.includes('begin')) return TWO;
        if (isFork(talk, 'left')) Object.assign(contextProvider.world, change);
        if (talk.last.includes('<fork-task>')) return [calls('l1', 'Look', { name: 'a' })];
        return [says('done')];
      },
      { briefing: contextProvider, swarm: { limits: ONE_AT_A_TIME } },
    );

    await hand.say('begin');
    await allSettled();

    const talks = hand.requests.map(talkOf);
    const right = firstOf(talks, 'right');
    expect(beginningOf(right)).toBe(beginningOf(firstOf(talks, 'left')));
    const [, next] = talks.filter((talk) => isFork(talk, 'right'));
    expect(next?.body).toMatch(/The branch is other\.|Be a swan\./);
    expect(right.body).not.toMatch(/The branch is other\.|Be a swan\./);
  });

  test.each([
    ['has sent nothing', ONE_AT_A_TIME],
    ['was not answered', { ...ONE_AT_A_TIME, maxConcurrentAgents: 2 }],
  ])('begin alike also where one that %s is taken up again', async (_, limits) => {
    const door = gate();
    const facts = { date: 'Monday' };
    const slow = await swarmInHand(
      ({ last }) => (last.includes('begin') ? TWO : [waits(door.opened), says('never said')]),
      { briefing: changingContext({ facts }), swarm: { limits } },
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
    const hand = await swarmInHand(() => [says('done')], {
      store,
      clock,
      briefing: contextProvider,
      choice: { kind: 'resume', id: slow.lead.id },
    });
    hand.lead.start();
    await allSettled();

    const left = firstOf(slow.requests.map(talkOf), 'left');
    const right = firstOf(hand.requests.map(talkOf), 'right');
    expect(beginningOf(right)).toBe(beginningOf(left));
    expect(beginningOf(firstOf(hand.requests.map(talkOf), 'left'))).toBe(beginningOf(left));
  });

  test.each([
    ['little', ''],
    ['much', 'They fly in a wedge. '.repeat(200)],
  ])('mark the same where they share %s, also in another process', async (_, said) => {
    const sections = { goose: 'Be a goose. '.repeat(1_000) };
    const slow = await swarmInHand(
      (talk) => {
        if (talk.last.includes('begin')) return [...(said ? [says(said)] : []), ...TWO];
        return isFork(talk, 'left') ? [says('done')] : [waits(gate().opened), says('never said')];
      },
      { briefing: changingContext({ sections }), swarm: { limits: ONE_AT_A_TIME } },
    );
    await slow.say('begin');
    await allSettled();
    await slow.lead.close();

    const { store, clock } = slow;
    const hand = await swarmInHand(() => [says('done')], {
      store,
      clock,
      briefing: changingContext({ sections }),
      choice: { kind: 'resume', id: slow.lead.id },
    });
    hand.lead.start();
    await allSettled();

    const [left, right] = ['left', 'right'].map((which) =>
      beginningOf(firstOf(slow.requests.map(talkOf), which)),
    );
    expect(right).toBe(left);
    expect(beginningOf(firstOf(hand.requests.map(talkOf), 'right'))).toBe(left);
  });
});
