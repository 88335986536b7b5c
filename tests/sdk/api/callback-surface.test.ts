import { describe, expect, test } from 'vitest';
import type { HookFunction } from '../../../src/protocol/permission/hook-setup.js';
import type { QueryOptions } from '../../../src/sdk/api/query-options.js';
import { calls } from '../../fakes/skein-process.js';
import { all, program, toolTexts } from './program.js';

const QUESTION = {
  question: 'Which bird?',
  options: [{ label: 'goose' }, { label: 'swan' }],
};

/** A run in which the agent asks the person which bird they mean. */
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
    ['rejects', () => Promise.reject(new Error('busy'))],
    ['returns an invalid answer', () => 'swan'],
  ])('that %s leaves the question unanswered, and the run continues', async (_, onQuestion) => {
    const [text] = await whenAsked(onQuestion);
    expect(text).toMatch(/^error: /);
    expect(text).not.toMatch(/swan/);
  });
});

/** A run with a Stop hook. If it is sent back, the model promises the tests. */
const whenDone = async (run: HookFunction) => {
  const { ask, bodies } = await program([
    { match: { lastUser: 'the tests fail' }, reply: 'The tests pass now.' },
    { reply: 'Done.' },
  ]);
  return {
    messages: await all(ask('go', { hooks: { Stop: [{ hooks: [run] }] } })),
    bodies: bodies(),
  };
};

describe('a Stop hook of a program', () => {
  test('sends the agent back with a reason until it approves', async () => {
    const seen: string[] = [];
    const { messages, bodies } = await whenDone(({ last_assistant_message: answer }) => {
      seen.push(String(answer));
      const hookSpecificOutput = { additionalContext: '1 of 7' };
      return answer === 'Done.'
        ? { decision: 'block', reason: 'the tests fail', hookSpecificOutput }
        : {};
    });
    expect(seen).toEqual(['Done.', 'The tests pass now.']);
    expect(messages.at(-1)).toMatchObject({ result: 'The tests pass now.', num_turns: 2 });
    expect(JSON.stringify(bodies[1]?.messages.at(-1))).toContain('1 of 7');
  });

  test('that never approves is overruled', async () => {
    const { messages, bodies } = await whenDone(() => ({ decision: 'block', reason: 'never' }));
    expect(messages.at(-1)).toMatchObject({ subtype: 'success' });
    expect(bodies.length).toBeGreaterThan(1);
    expect(bodies.length).toBeLessThan(50);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('boo')), /Stop hook .* failed.*: boo/],
    ['returns an invalid answer', () => 'no', /Stop hook .* failed.*: its output cannot be used/],
  ])('that %s does not block the run, with a notice', async (_, run, sentence) => {
    const { messages } = await whenDone(run);
    expect(messages.at(-1)).toMatchObject({ subtype: 'success', result: 'Done.' });
    expect(messages).toContainEqual(
      expect.objectContaining({ subtype: 'notice', text: expect.stringMatching(sentence) }),
    );
  });
});

describe('invalid hooks of a program', () => {
  test.each([
    ['an event that does not exist', { PreTool: [] }, /"hooks/],
    [
      'a string instead of a function',
      { Stop: [{ hooks: ['check.sh'] }] },
      /"hooks.Stop.0.hooks.0": must be a function/,
    ],
    ['an invalid matcher', { Stop: [{ matcher: '(', hooks: [] }] }, /matcher" is not a regular/],
  ])('are refused: %s', async (_, hooks, sentence) => {
    const { ask } = await program([{ reply: 'Done.' }]);
    await expect(all(ask('go', { hooks } as unknown as QueryOptions))).rejects.toThrow(sentence);
  });
});
