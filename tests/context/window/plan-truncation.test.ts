import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planTruncation, type SizedMessage } from '../../../src/context/window/plan-truncation.js';

/** A first prompt, then rounds of an answer and the user message after it. */
const conversation = (rounds: readonly Round[], open: boolean): SizedMessage[] => {
  const message = (
    role: SizedMessage['role'],
    weight: number,
    answersCalls = false,
  ): SizedMessage => ({
    role,
    weight,
    answersCalls,
  });
  const messages = [message('user', 100)];
  for (const { answer, reply, usesTools } of rounds) {
    messages.push(message('assistant', answer), message('user', reply, usesTools));
  }
  if (!open) messages.push(message('assistant', 50));
  return messages;
};

interface Round {
  readonly answer: number;
  readonly reply: number;
  readonly usesTools: boolean;
}

const rounds = fc.array(
  fc.record({
    answer: fc.integer({ min: 20, max: 5_000 }),
    reply: fc.integer({ min: 20, max: 5_000 }),
    usesTools: fc.boolean(),
  }),
  { maxLength: 12 },
);
const conversations = fc.tuple(rounds, fc.boolean()).map(([all, open]) => conversation(all, open));
const gaps = fc.option(fc.integer({ min: 1, max: 20_000 }));

const remaining = (messages: readonly SizedMessage[], dropped: number) => [
  ...messages.slice(0, 1),
  ...messages.slice(dropped + 1),
];

describe('a truncation plan', () => {
  test('never keeps a result without its call', () => {
    fc.assert(
      fc.property(conversations, gaps, (messages, gap) => {
        const plan = planTruncation(messages, gap);
        if (plan === undefined) return;
        const kept = remaining(messages, plan.dropped);
        for (const [index, { answersCalls }] of kept.entries()) {
          if (!answersCalls) continue;
          const original = messages.indexOf(kept[index] as SizedMessage);
          expect(kept[index - 1]).toBe(messages[original - 1]);
        }
      }),
    );
  });

  test('keeps the first message and the newest exchange', () => {
    fc.assert(
      fc.property(conversations, gaps, (messages, gap) => {
        const plan = planTruncation(messages, gap);
        const newest = messages.findLastIndex(({ role }) => role === 'assistant');
        expect(plan?.dropped ?? 0).toBeLessThan(Math.max(1, newest));
      }),
    );
  });

  test('frees the gap if possible, with the fewest dropped messages', () => {
    fc.assert(
      fc.property(conversations, fc.integer({ min: 1, max: 20_000 }), (messages, gap) => {
        const plan = planTruncation(messages, gap);
        const newest = messages.findLastIndex(({ role }) => role === 'assistant');
        const cuts = messages.flatMap((_, index) =>
          index > 0 && index < newest && messages[index + 1]?.answersCalls === false ? [index] : [],
        );
        const freedBy = (cut: number) =>
          Math.ceil(messages.slice(1, cut + 1).reduce((sum, { weight }) => sum + weight, 0) / 4);
        const enough = cuts.find((cut) => freedBy(cut) >= gap);
        const expected = enough ?? cuts.at(-1);
        const tokens = expected === undefined ? undefined : freedBy(expected);
        expect([plan?.dropped, plan?.tokens]).toEqual([expected, tokens]);
      }),
    );
  });

  test('drops a fifth without a given gap', () => {
    const even = Array.from({ length: 10 }, () => ({ answer: 500, reply: 500, usesTools: false }));
    const plan = planTruncation(conversation(even, false), null);
    expect(plan).toEqual({ dropped: 5, tokens: 625 });
  });

  test.each([
    ['an empty conversation', []],
    ['a single message', conversation([], true)],
    ['a single exchange', conversation([], false)],
    ['a single round of tools', conversation([{ answer: 9, reply: 9, usesTools: true }], true)],
  ])('does not exist for %s', (_, messages) => {
    expect(planTruncation(messages, 10)).toBeUndefined();
  });
});
