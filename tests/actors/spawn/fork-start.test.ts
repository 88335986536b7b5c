/** Common prompt prefix of the forks of a message while the context changes (law 2). */
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

const TWO_FORKS = [calls('c1', 'Task', task('left')), calls('c2', 'Task', task('right'))];
/** The second fork waits for the slot of the first. */
const ONE_SLOT = { maxAgents: 10, maxConcurrentAgents: 1, maxDepth: 3 };

const isFork = ({ said }: Conversation, which: string): boolean =>
  said.some((text) => text.includes(`<fork-task>\n${which}`));

/** Request of a fork up to its task. */
const prefixOf = ({ body }: Conversation): string => body.slice(0, body.indexOf('<fork-task>'));

const firstOf = (conversations: readonly Conversation[], which: string): Conversation => {
  const found = conversations.find((conversation) => isFork(conversation, which));
  if (found === undefined) throw new Error(`${which} has sent nothing.`);
  return found;
};

describe('forks of a message', () => {
  test.each([
    ['another branch', { facts: { date: 'Monday', branch: 'other' } }],
    ['a changed section', { sections: { goose: 'Be a swan.' } }],
  ])('start with the same prefix, and get %s only after their task', async (_, change) => {
    const contextProvider = changingContext({ mayChange: true, facts: { date: 'Monday' } });
    const harness = await swarmHarness(
      (conversation) => {
        if (conversation.last.includes('begin')) return TWO_FORKS;
        if (isFork(conversation, 'left')) Object.assign(contextProvider.world, change);
        if (conversation.last.includes('<fork-task>')) return [calls('l1', 'Look', { name: 'a' })];
        return [says('done')];
      },
      { contextProvider, swarm: { limits: ONE_SLOT } },
    );

    await harness.say('begin');
    await allSettled();

    const conversations = harness.requests.map(conversationOf);
    const right = firstOf(conversations, 'right');
    expect(prefixOf(right)).toBe(prefixOf(firstOf(conversations, 'left')));
    const [, next] = conversations.filter((conversation) => isFork(conversation, 'right'));
    expect(next?.body).toMatch(/The branch is other\.|Be a swan\./);
    expect(right.body).not.toMatch(/The branch is other\.|Be a swan\./);
  });

  test.each([
    ['sent no request', ONE_SLOT],
    ['got no answer', { ...ONE_SLOT, maxConcurrentAgents: 2 }],
  ])('start with the same prefix if a fork that %s is resumed', async (_, limits) => {
    const release = gate();
    const facts = { date: 'Monday' };
    const slow = await swarmHarness(
      ({ last }) =>
        last.includes('begin') ? TWO_FORKS : [waits(release.opened), says('never said')],
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
    expect(prefixOf(right)).toBe(prefixOf(left));
    expect(prefixOf(firstOf(harness.requests.map(conversationOf), 'left'))).toBe(prefixOf(left));
  });

  test.each([
    ['a short prefix', ''],
    ['a long prefix', 'They fly in a wedge. '.repeat(200)],
  ])('set the same cache breakpoints after %s, in this and in another process', async (_, said) => {
    const sections = { goose: 'Be a goose. '.repeat(1_000) };
    const slow = await swarmHarness(
      (conversation) => {
        if (conversation.last.includes('begin'))
          return [...(said ? [says(said)] : []), ...TWO_FORKS];
        return isFork(conversation, 'left')
          ? [says('done')]
          : [waits(gate().opened), says('never said')];
      },
      { contextProvider: changingContext({ sections }), swarm: { limits: ONE_SLOT } },
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
      prefixOf(firstOf(slow.requests.map(conversationOf), which)),
    );
    expect(right).toBe(left);
    expect(prefixOf(firstOf(harness.requests.map(conversationOf), 'right'))).toBe(left);
  });
});
