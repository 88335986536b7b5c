import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { askSurfaces } from '../../../src/actors/permissions/ask-surfaces.js';
import { INBOX, inboxSurface } from '../../../src/actors/permissions/inbox-surface.js';
import { inputDigest } from '../../../src/actors/permissions/input-digest.js';
import { signClaims, signingSurface } from '../../../src/actors/permissions/signing-surface.js';
import type {
  PermissionAnswer,
  PermissionQuestion,
} from '../../../src/protocol/permission/permission-question.js';
import type { AnswerClaims } from '../../../src/protocol/permission/signed-answer.js';
import type { PostedQuestion } from '../../../src/protocol/session/question-board.js';
import { virtualClock } from '../../fakes/virtual-clock.js';

const QUESTION: PermissionQuestion = {
  id: 'q_1',
  agent: 'a_1',
  call: 'c_1',
  tool: 'Bash',
  input: { command: 'make' },
  inputDigest: inputDigest({ command: 'make' }),
  description: 'Bash make',
  reason: 'why not',
  risk: 'medium',
  cwd: '/w',
};

/** One question to the inbox and to a terminal that answers on demand. */
const asked = async () => {
  const clock = virtualClock();
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const posted = new Map<string, PostedQuestion>();
  const inbox = inboxSurface({
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
    board: {
      post: async (question) => void posted.set(question.id, question),
      withdraw: async (id) => void posted.delete(id),
      clear: async () => posted.clear(),
    },
    clock,
  });
  let answerThere: (answer: PermissionAnswer) => void = () => {};
  const screen = {
    ask: () =>
      new Promise<PermissionAnswer>((resolve) => {
        answerThere = resolve;
      }),
  };
  const withdrawal = new AbortController();
  const heard: string[] = [];
  const decision = askSurfaces([signingSurface('terminal', screen, clock), inbox], QUESTION, {
    signal: withdrawal.signal,
    clock,
    timeoutMs: 60_000,
    onAnswer: ({ surface, outcome }) => heard.push(`${surface} ${outcome}`),
  });
  await new Promise(setImmediate);
  const sign = (more: Partial<AnswerClaims> = {}, key: KeyObject = privateKey) =>
    signClaims(
      {
        question: 'q_1',
        agent: 'a_1',
        call: 'c_1',
        inputDigest: QUESTION.inputDigest,
        answer: { behavior: 'allow', scope: 'once' },
        surface: INBOX,
        issuedAt: clock.now(),
        ...more,
      },
      key,
    );
  return { clock, inbox, posted, decision, sign, heard, withdrawal, answerThere };
};

describe('a question in the inbox', () => {
  test('is posted until it is answered by whoever has the key', async () => {
    const { inbox, posted, decision, sign, heard } = await asked();
    expect([...posted.values()]).toMatchObject([{ id: 'q_1', input: { command: 'make' } }]);
    expect(await inbox.answer(sign())).toEqual({
      ok: true,
      sentence: 'Allowed: Bash of a_1.',
      agent: 'a_1',
    });
    expect(await decision).toMatchObject({ behavior: 'allow', by: 'inbox' });
    expect(posted.size).toBe(0);
    expect(heard).toEqual(['inbox accepted']);
  });

  test.each<[string, Partial<AnswerClaims>, RegExp]>([
    ['another input', { inputDigest: 'other' }, /an input other than/],
    ['another call', { call: 'c_2' }, /another call/],
    ['another agent', { agent: 'a_2' }, /another agent/],
    ['a name without a key', { surface: 'terminal' }, /no surface with this name/],
    ['a time before it was asked', { issuedAt: 0 }, /while the question was open/],
  ])('is not answered by an answer with %s, and stays open', async (_, claims, why) => {
    const { inbox, posted, decision, sign, heard } = await asked();
    expect(await inbox.answer(sign(claims))).toMatchObject({ ok: false });
    expect((await inbox.answer(sign(claims))).sentence).toMatch(why);
    expect(posted.size).toBe(1);
    expect(heard).toEqual([]);
    await inbox.answer(sign({ answer: { behavior: 'deny', reason: 'no' } }));
    expect(await decision).toMatchObject({ behavior: 'deny', reason: 'no' });
  });

  test('is not answered by another key', async () => {
    const { inbox, posted, sign } = await asked();
    const forged = sign({}, generateKeyPairSync('ed25519').privateKey);
    expect((await inbox.answer(forged)).sentence).toContain('its signature is not that');
    expect(posted.size).toBe(1);
  });

  test('has one winner; the other is told who it was', async () => {
    const { inbox, sign, decision } = await asked();
    const [first, second] = await Promise.all([
      inbox.answer(sign()),
      inbox.answer(sign({ answer: { behavior: 'deny', reason: 'no' } })),
    ]);
    expect(first).toMatchObject({ ok: true });
    expect(second).toMatchObject({ ok: false });
    expect(await decision).toMatchObject({ behavior: 'allow' });
    expect(await inbox.answer(sign())).toMatchObject({
      ok: false,
      sentence: 'Too late: somebody in another terminal has allowed it already.',
    });
  });

  test('that the terminal has answered disappears, and whoever comes later is told', async () => {
    const { inbox, posted, sign, decision, answerThere } = await asked();
    answerThere({ behavior: 'deny', reason: 'no' });
    expect(await decision).toMatchObject({ by: 'terminal' });
    await new Promise(setImmediate);
    expect(posted.size).toBe(0);
    expect((await inbox.answer(sign())).sentence).toBe('Too late: terminal has denied it already.');
  });

  test('that is withdrawn or runs out of time disappears', async () => {
    const [one, two] = [await asked(), await asked()];
    one.withdrawal.abort();
    await two.clock.advance(60_000);
    for (const { inbox, posted, sign, decision } of [one, two]) {
      expect(await decision).toMatchObject({ behavior: 'deny' });
      await new Promise(setImmediate);
      expect(posted.size).toBe(0);
      expect((await inbox.answer(sign())).sentence).toMatch(/^The question is gone\. /);
    }
  });
});
