import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KEPT_MESSAGES, planCompaction } from '../../../src/context/window/plan-compaction.js';
import type { SizedMessage } from '../../../src/context/window/plan-truncation.js';

/** `p` is a prompt, `a` an answer, `r` the results of its calls. Each has `weight` bytes. */
const conversation = (letters: string, weight = 400): SizedMessage[] =>
  Array.from(letters, (letter) => ({
    role: letter === 'a' ? 'assistant' : 'user',
    answersCalls: letter === 'r',
    weight,
  }));

const PLENTY = 1_000_000;

const rounds = fc
  .array(fc.constantFrom('ar', 'ar', 'ap'), { minLength: 1, maxLength: 40 })
  .chain((all) => fc.constantFrom(`p${all.join('')}`, `p${all.join('')}a`));
const weights = fc.array(fc.integer({ min: 10, max: 40_000 }), { minLength: 90, maxLength: 90 });
const conversations = fc
  .tuple(rounds, weights)
  .map(([letters, heavy]) =>
    conversation(letters).map((message, at) => ({ ...message, weight: heavy[at] ?? 10 })),
  );

describe('the cut between summarised and kept messages', () => {
  test('keeps the last twelve messages (L18)', () => {
    expect(KEPT_MESSAGES).toBe(12);
    expect(planCompaction(conversation('pa'.repeat(20)), PLENTY)).toBe(40 - 12);
  });

  test('moves back to keep a call with its result', () => {
    expect(planCompaction(conversation(`p${'ar'.repeat(20)}a`), PLENTY)).toBe(42 - 13);
  });

  test('moves forward if the last twelve messages are too long', () => {
    expect(planCompaction(conversation('pa'.repeat(20)), 500)).toBe(40 - 5);
    expect(planCompaction(conversation('pa'.repeat(20)), 0)).toBe(40 - 1);
  });

  test.each([
    ['pa', 1],
    ['pap', 1],
    ['papa', 2],
    ['par', 1],
    ['parara', 5],
  ])('keeps the newest exchange of a short conversation: %s', (letters, cut) => {
    expect(planCompaction(conversation(letters), PLENTY)).toBe(cut);
  });

  test('does not move past the newest answer to a prompt that would fit', () => {
    expect(planCompaction(conversation('papap'), 150)).toBe(3);
  });

  test.each(['', 'p'])('does not exist without an answer: "%s"', (letters) => {
    expect(planCompaction(conversation(letters), PLENTY)).toBeUndefined();
  });

  test('never separates a result from its call, and always keeps the newest answer', () => {
    fc.assert(
      fc.property(conversations, fc.integer({ min: 0, max: 100_000 }), (messages, tail) => {
        const cut = planCompaction(messages, tail) ?? -1;
        expect(cut).toBeGreaterThan(0);
        expect(messages[cut]?.answersCalls).toBe(false);
        expect(messages.slice(cut).some(({ role }) => role === 'assistant')).toBe(true);
      }),
    );
  });

  test('keeps at most the limit, except for the newest answer', () => {
    fc.assert(
      fc.property(conversations, fc.integer({ min: 0, max: 100_000 }), (messages, tail) => {
        const cut = planCompaction(messages, tail) ?? -1;
        const weigh = (from: number) =>
          Math.ceil(messages.slice(from).reduce((sum, { weight }) => sum + weight, 0) / 4);
        const newest = messages.findLastIndex(({ role }) => role === 'assistant');
        expect(weigh(cut) <= tail || cut === newest).toBe(true);
      }),
    );
  });
});
