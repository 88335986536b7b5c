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

/** As conversations are: the user begins. */
const talks = fc.stringMatching(/^u[ua]{0,40}$/).map(talk);

describe('the marked messages (K9)', () => {
  test.each([
    ['nothing yet', '', []],
    ['a first prompt', 'u', [0]],
    ['a second prompt', 'uau', [0, 2]],
    ['a third prompt', 'uauau', [2, 4]],
    ['a pause that is sent back', 'uaua', [2]],
    ['a pause that is followed by more', 'uauaa', [2]],
    ['a prompt after a pause and its end', 'uauaau', [2, 5]],
    ['a prompt after a request that failed', 'uauu', [0, 3]],
    ['a prompt after many that failed', 'uauuuuu', [0, 6]],
    ['a prompt after a first request that failed', 'uu', [1]],
    ['what follows once an answer came', 'uauuau', [3, 5]],
  ])('of %s', (_, letters, wanted) => {
    expect([...breakpointMessages(talk(letters))].sort((a, b) => a - b)).toEqual(wanted);
  });

  test('are at most two, and always of the user', () => {
    fc.assert(
      fc.property(talks, (messages) => {
        const marked = breakpointMessages(messages);
        expect(marked.length).toBeLessThanOrEqual(2);
        expect(marked.every((index) => messages[index]?.role === 'user')).toBe(true);
      }),
    );
  });

  test('include the newest of the user, and the newest that was answered', () => {
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

  test('always include one that an earlier request has marked, once one was answered', () => {
    fc.assert(
      fc.property(talks, (messages) => {
        // Every answer was given to what stood before it: these requests have left entries.
        const left = messages.flatMap(({ role }, index) =>
          role === 'assistant' ? breakpointMessages(messages.slice(0, index)) : [],
        );
        const isRead = breakpointMessages(messages).some((index) => left.includes(index));
        expect(isRead).toBe(left.length > 0);
      }),
    );
  });

  test('are found from the end, however long the conversation is', () => {
    fc.assert(
      fc.property(talks, fc.integer({ min: 1, max: 5_000 }), (end, rounds) => {
        let looks = 0;
        const long = [...talk('ua'.repeat(rounds)), ...end];
        const watched = new Proxy(long, {
          get(target, key, receiver) {
            if (typeof key === 'string' && /^\d+$/.test(key)) looks += 1;
            return Reflect.get(target, key, receiver) as unknown;
          },
        });
        breakpointMessages(watched);
        expect(looks).toBeLessThanOrEqual(2 * end.length + 4);
      }),
    );
  });
});
