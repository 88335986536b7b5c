import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  breakpointMessages,
  type HasRole,
  newestAnswered,
} from '../../../src/prompt/request/cache-breakpoints.js';

/** `uau` is a prompt, its answer and another prompt. */
const talk = (letters: string): HasRole[] =>
  letters.split('').map((letter) => ({ role: letter === 'u' ? 'user' : 'assistant' }));

/** Every conversation starts with a user message. */
const talks = fc.stringMatching(/^u[ua]{0,40}$/).map(talk);

describe('the messages with a breakpoint (K9)', () => {
  test.each([
    ['an empty conversation', '', []],
    ['a first prompt', 'u', [0]],
    ['a second prompt', 'uau', [0, 2]],
    ['a third prompt', 'uauau', [2, 4]],
    ['a paused answer that is sent back', 'uaua', [2]],
    ['a paused answer with a continuation', 'uauaa', [2]],
    ['a prompt after a paused answer and its continuation', 'uauaau', [2, 5]],
    ['a prompt after a failed request', 'uauu', [0, 3]],
    ['a prompt after many failed requests', 'uauuuuu', [0, 6]],
    ['a prompt after a failed first request', 'uu', [1]],
    ['a prompt after failed requests and an answer', 'uauuau', [3, 5]],
  ])('of %s', (_, letters, expected) => {
    expect([...breakpointMessages(talk(letters))].sort((a, b) => a - b)).toEqual(expected);
  });

  test('are at most two, both user messages', () => {
    fc.assert(
      fc.property(talks, (messages) => {
        const marked = breakpointMessages(messages);
        expect(marked.length).toBeLessThanOrEqual(2);
        expect(marked.every((index) => messages[index]?.role === 'user')).toBe(true);
      }),
    );
  });

  test('include the newest user message and the newest answered user message', () => {
    fc.assert(
      fc.property(talks, (messages) => {
        const marked = breakpointMessages(messages);
        expect(marked).toContain(messages.findLastIndex(({ role }) => role === 'user'));
        const answered = messages.findLastIndex(
          ({ role }, index) => role === 'user' && messages[index + 1]?.role === 'assistant',
        );
        expect(newestAnswered(messages)).toBe(answered);
        expect(marked.includes(answered)).toBe(answered >= 0);
      }),
    );
  });

  test('include a breakpoint of an earlier answered request, if any', () => {
    fc.assert(
      fc.property(talks, (messages) => {
        // Every answered request has left cache entries at its breakpoints.
        const cached = messages.flatMap(({ role }, index) =>
          role === 'assistant' ? breakpointMessages(messages.slice(0, index)) : [],
        );
        const isRead = breakpointMessages(messages).some((index) => cached.includes(index));
        expect(isRead).toBe(cached.length > 0);
      }),
    );
  });

  test('are found from the end, independent of the length of the conversation', () => {
    fc.assert(
      fc.property(talks, fc.integer({ min: 1, max: 5_000 }), (end, rounds) => {
        let reads = 0;
        const long = [...talk('ua'.repeat(rounds)), ...end];
        const watched = new Proxy(long, {
          get(target, key, receiver) {
            if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1;
            return Reflect.get(target, key, receiver) as unknown;
          },
        });
        breakpointMessages(watched);
        expect(reads).toBeLessThanOrEqual(2 * end.length + 4);
      }),
    );
  });
});
