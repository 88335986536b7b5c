/** Law 4 for nested forks: a fork knows which part of its conversation its first request cached. */
import { describe, expect, test } from 'vitest';
import type { Reply } from '../../fakes/skein-process.js';
import { lastTexts, swarmWire, taskCall } from '../swarm-wire.js';

const SLOW: Reply = { text: 'This leaf is done.', delayMs: 60 };
/** About 1,000 tokens. */
const LONG = 'They fly in a wedge. '.repeat(200);

interface Tree {
  /** Forks of each of the two forks of the lead. */
  readonly leaves: number;
  /** Text of the lead before its Task calls. */
  readonly leadText?: string;
}

const twoLevels = async ({ leaves: count, leadText }: Tree) => {
  const leaves = Array.from({ length: count }, (_, at) => taskCall(`Leaf ${at}.`));
  const wire = await swarmWire([
    { match: { lastUser: 'Leaf' }, reply: SLOW },
    { match: { lastUser: 'Branch' }, reply: { tool_use: leaves } },
    {
      match: { turn: 0 },
      reply: {
        ...(leadText !== undefined && { text: leadText }),
        tool_use: [taskCall('Branch 1.'), taskCall('Branch 2.')],
      },
    },
    { match: { toolResult: 'leaf is done' }, reply: 'All leaves are done.' },
    { reply: 'All done.' },
  ]);
  await wire.say('Go.');
  const sent = wire.sent();
  const usages = (word: string) =>
    sent
      .filter((request) => lastTexts(request).includes(word))
      .map(({ usage }) => ({
        read: usage?.cacheRead ?? 0,
        written: (usage?.cacheWrite5m ?? 0) + (usage?.cacheWrite1h ?? 0),
      }));
  return { branches: usages('Branch'), leaves: usages('Leaf') };
};

const writersOf = (usages: readonly { readonly written: number }[]): number =>
  usages.filter(({ written }) => written > 0).length;

describe('law 4, for forks of forks', () => {
  test('no fork writes a small part that its parent has not written either', async () => {
    const { branches, leaves } = await twoLevels({ leaves: 2 });
    expect([writersOf(branches), writersOf(leaves)]).toEqual([0, 0]);
    const [read] = branches.map((branch) => branch.read);
    expect(leaves.map((leaf) => leaf.read)).toEqual(Array(4).fill(read));
  });

  test('one fork of each parent writes a larger part, and the others read it', async () => {
    const { branches, leaves } = await twoLevels({ leaves: 6 });
    expect([writersOf(branches), writersOf(leaves)]).toEqual([0, 2]);
    const maxRead = Math.max(...leaves.map(({ read }) => read));
    expect(leaves.filter(({ read }) => read === maxRead)).toHaveLength(10);
  });

  test('forks read the part that their parent has marked', async () => {
    const { branches, leaves } = await twoLevels({ leaves: 2, leadText: LONG });
    expect([writersOf(branches), writersOf(leaves)]).toEqual([1, 0]);
    const maxRead = Math.max(...branches.map(({ read }) => read));
    expect(leaves.map((leaf) => leaf.read)).toEqual(Array(4).fill(maxRead));
  });
});
