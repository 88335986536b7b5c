import { describe, expect, test } from 'vitest';
import type { QueryOptions } from '../../src/sdk/query-options.js';
import { calls } from '../fakes/skein-process.js';
import { all, program, toolTexts } from './program.js';

const QUESTION = {
  question: 'Which bird?',
  options: [{ label: 'goose' }, { label: 'swan' }],
};

/** A run in which the agent asks a person which bird they mean. */
const whenAsked = async (onQuestion: unknown) => {
  const { ask } = await program([
    { match: { turn: 0 }, reply: calls('AskUser', QUESTION) },
    { reply: 'Thanks.' },
  ]);
  return toolTexts(await all(ask('go', { onQuestion } as QueryOptions)));
};

describe('a callback for questions', () => {
  test('answers for the person', async () => {
    const seen: unknown[] = [];
    const [text] = await whenAsked((question: { question: string }) => {
      seen.push(question.question);
      return { chosen: ['swan'], text: 'a white one' };
    });
    expect(seen).toEqual(['Which bird?']);
    expect(text).toMatch(/swan/);
    expect(text).toMatch(/a white one/);
  });

  test.each([
    ['does not want to', () => Promise.reject(new Error('busy'))],
    ['answers with nonsense', () => 'swan'],
  ])('that %s leaves the question open, and the run goes on', async (_, onQuestion) => {
    const [text] = await whenAsked(onQuestion);
    expect(text).toMatch(/^error: /);
    expect(text).not.toMatch(/swan/);
  });
});

/** A run whose end is looked at; the model promises the tests when it is sent back. */
const whenDone = async (onStop: unknown) => {
  const { ask, bodies } = await program([
    { match: { lastUser: 'the tests fail' }, reply: 'The tests pass now.' },
    { reply: 'Done.' },
  ]);
  return { messages: await all(ask('go', { onStop } as QueryOptions)), bodies: bodies() };
};

describe('a callback for the end', () => {
  test('sends the agent back with a reason, and lets it go when it is content', async () => {
    const seen: string[] = [];
    const { messages, bodies } = await whenDone(({ answer }: { answer: string }) => {
      seen.push(answer);
      return answer === 'Done.'
        ? { block: true, reason: 'the tests fail', context: '1 of 7' }
        : { block: false };
    });
    expect(seen).toEqual(['Done.', 'The tests pass now.']);
    expect(messages.at(-1)).toMatchObject({ result: 'The tests pass now.', num_turns: 2 });
    expect(JSON.stringify(bodies[1]?.messages.at(-1))).toContain('1 of 7');
  });

  test('that never lets go is overruled', async () => {
    const { messages, bodies } = await whenDone(() => ({ block: true, reason: 'never' }));
    expect(messages.at(-1)).toMatchObject({ subtype: 'success' });
    expect(bodies.length).toBeGreaterThan(1);
    expect(bodies.length).toBeLessThan(50);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('boo')), /stop hook failed: boo/],
    ['answers with nonsense', () => 'no', /stop hook failed: onStop gave/],
  ])('that %s does not hold the run, and it is said', async (_, onStop, sentence) => {
    const { messages } = await whenDone(onStop);
    expect(messages.at(-1)).toMatchObject({ subtype: 'success', result: 'Done.' });
    expect(messages).toContainEqual(
      expect.objectContaining({ subtype: 'notice', text: expect.stringMatching(sentence) }),
    );
  });
});
