import { describe, expect, test } from 'vitest';
import { compileScript } from '../../src/simulator/compiled-script.js';
import { composeReply } from '../../src/simulator/compose-reply.js';
import type { MessagesRequest } from '../../src/simulator/messages-request.js';
import { requestFacts } from '../../src/simulator/request-facts.js';
import { parseScript, type ScriptInput } from '../../src/simulator/script.js';

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const result = (content: unknown) => ({ type: 'tool_result', tool_use_id: 'a', content });

const facts = (messages: unknown[], rest: object = {}) =>
  requestFacts({ model: 'claude-opus-5-5', max_tokens: 1, messages, ...rest } as MessagesRequest);

const text = (value: string) => ({ type: 'text', text: value });

const scriptOf = (...rules: ScriptInput['rules']) => compileScript(parseScript({ rules }));

/** Returns which of two rules answers: the rule with the match, or the catch-all. */
const matches = (match: NonNullable<ScriptInput['rules'][number]['match']>, messages: unknown[]) =>
  scriptOf({ match, reply: 'yes' }, { reply: 'no' }).nextReply(
    facts(messages, { system: [{ type: 'text', text: 'You are calm.' }] }),
  ).text === 'yes';

describe('a rule of a script', () => {
  const talk = [
    user('fix the bug'),
    assistant('what bug?'),
    user([result('exit 1'), { type: 'text', text: 'the loud one' }]),
  ];

  test.each([
    [{}, true],
    [{ system: 'calm' }, true],
    [{ system: 'loud' }, false],
    [{ firstUser: 'fix' }, true],
    [{ firstUser: 'loud' }, false],
    [{ lastUser: 'loud' }, true],
    [{ lastUser: 'exit' }, false],
    [{ toolResult: 'exit 1' }, true],
    [{ toolResult: 'loud' }, false],
    [{ lastUser: '/^the L\\w+/i' }, true],
    [{ lastUser: '/^loud/' }, false],
    [{ lastUser: '/usr/bin' }, false],
    [{ model: 'opus' }, true],
    [{ model: '/haiku|sonnet/' }, false],
    [{ turn: 1 }, true],
    [{ turn: 0 }, false],
    [{ turn: { min: 1 } }, true],
    [{ turn: { max: 0 } }, false],
    [{ turn: { min: 1, max: 1 } }, true],
    [{ turn: 1, lastUser: 'loud', firstUser: 'quiet' }, false],
  ])('matches with %j: %s', (match, expected) => {
    expect(matches(match, talk)).toBe(expected);
  });

  test('answers before all later rules that match', () => {
    const found = scriptOf(
      { match: { lastUser: 'a' }, reply: '1' },
      { match: { lastUser: 'ab' }, reply: '2' },
    );
    expect(found.nextReply(facts([user('ab')])).text).toBe('1');
  });

  test('matches tool results that are blocks', () => {
    expect(
      matches({ toolResult: 'deep' }, [user([result([{ type: 'text', text: 'deep' }])])]),
    ).toBe(true);
  });
});

describe('a request without a matching rule', () => {
  test('is rejected with a description of the request', () => {
    const strict = scriptOf({ match: { turn: 7 }, reply: 'x' });
    expect(() =>
      strict.nextReply(facts([user('find "it"')], { system: 'calm'.repeat(100) })),
    ).toThrow(
      `The simulator's script has no rule for this request: turn 0, model claude-opus-5-5, last user text "find \\"it\\"", tool result "", system "${'calm'.repeat(50)}…"`,
    );
  });
});

describe('the replies of a rule', () => {
  test('are used in order, and the last reply repeats', () => {
    const sequence = scriptOf({ replies: ['a', 'b'] });
    const texts = [1, 2, 3, 4].map(() => sequence.nextReply(facts([user('x')])).text);
    expect(texts).toEqual(['a', 'b', 'b', 'b']);
  });

  test('have the default pace of the script', () => {
    const paced = compileScript(
      parseScript({
        defaults: { delayMs: 5, chunkBytes: 9 },
        rules: [{ reply: { text: 'a', chunkBytes: 1 } }],
      }),
    );
    expect(paced.nextReply(facts([user('x')]))).toEqual({ text: 'a', delayMs: 5, chunkBytes: 1 });
  });
});

describe('a composed reply', () => {
  const loop = parseScript({
    rules: [
      {
        reply: {
          tool_use: { name: 'Read', input: { path: 'f{{turn}}', deep: ['{{lastUser}}', 1, null] } },
        },
      },
    ],
  }).rules[0]?.reply;
  const composed = (digest: string, messages: unknown[] = [user('go')]) =>
    composeReply(loop ?? {}, facts(messages), digest).content[0];

  test('fills in templates, including nested input values', () => {
    const talk = [user('go'), assistant('so'), user('on "and" on')];
    expect(composed('d', talk)).toMatchObject({
      json: JSON.stringify({ path: 'f1', deep: ['on "and" on', 1, null] }),
    });
  });

  test('has ids that depend only on the prompt', () => {
    expect(composed('d')).toEqual(composed('d'));
    expect(composed('d')).not.toEqual(composed('e'));
    expect(composed('d')).toMatchObject({ id: expect.stringMatching(/^toolu_01[0-9a-f]{22}$/) });
  });

  test('has the stop reason of its content or of the script', () => {
    const stops = [
      { text: 'a' },
      { tool_use: [{ name: 'A' }, { name: 'B' }] },
      { text: 'a', stop_reason: 'max_tokens' },
      { text: 'a', stop_sequence: 'END' },
    ].map((reply) => composeReply(reply, facts([user('x')]), 'd').stopReason);
    expect(stops).toEqual(['end_turn', 'tool_use', 'max_tokens', 'stop_sequence']);
  });

  test('counts its output tokens unless the script sets them', () => {
    const tokens = (reply: object) => composeReply(reply, facts([user('x')]), 'd').outputTokens;
    expect(tokens({ text: 'a'.repeat(41) })).toBe(11);
    expect(tokens({ text: 'a'.repeat(41), usage: { output_tokens: 7 } })).toBe(7);
  });
});

describe('the texts of a request', () => {
  test('exclude system reminders', () => {
    const reminder = text("<system-reminder>\nToday's date is 2026-11-16.\n</system-reminder>");
    const { firstUser, lastUser } = facts([
      user([reminder, text('fix the bug')]),
      assistant('what bug?'),
      user([result('exit 1'), text('the <system-reminder> one'), reminder]),
    ]);
    expect({ firstUser, lastUser }).toEqual({
      firstUser: 'fix the bug',
      lastUser: 'the <system-reminder> one',
    });
  });
});
