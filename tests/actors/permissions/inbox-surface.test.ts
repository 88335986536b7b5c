import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { askSurfaces } from '../../../src/actors/permissions/ask-surfaces.js';
import {
  firstAnswerWins,
  INBOX,
  inboxSurface,
} from '../../../src/actors/permissions/inbox-surface.js';
import { inputDigest } from '../../../src/actors/permissions/input-digest.js';
import { signClaims, signingSurface } from '../../../src/actors/permissions/signing-surface.js';
import type {
  PermissionAnswer,
  PermissionQuestion,
} from '../../../src/protocol/permission/permission-question.js';
import type { AnswerClaims } from '../../../src/protocol/permission/signed-answer.js';
import { fileQuestions } from '../../../src/store/files/questions/file-questions.js';
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

/** Asks one question in the inbox and in a terminal that answers on demand. */
const asked = async () => {
  const clock = virtualClock();
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const session = mkdtempSync(join(tmpdir(), 'inbox-'));
  onTestFinished(() => rmSync(session, { recursive: true, force: true }));
  const { board, decisions } = fileQuestions(session, clock);
  let answerThere: (answer: PermissionAnswer) => void = () => {};
  const screen = {
    ask: () =>
      new Promise<PermissionAnswer>((resolve) => {
        answerThere = resolve;
      }),
  };
  const terminal = signingSurface('terminal', screen, clock);
  const inbox = inboxSurface({
    publicKeys: [publicKey.export({ format: 'der', type: 'spki' }).toString('base64url')],
    others: [{ id: terminal.id, publicKey: terminal.publicKey }],
    board,
    decisions,
    clock,
    isOptional: false,
  });
  const withdrawal = new AbortController();
  const outcomes: string[] = [];
  const decision = askSurfaces([firstAnswerWins(terminal, decisions), inbox], QUESTION, {
    signal: withdrawal.signal,
    clock,
    timeoutMs: 60_000,
    onAnswer: ({ surface, outcome }) => outcomes.push(`${surface} ${outcome}`),
  });
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
  // Another process has the same files.
  const other = fileQuestions(session, clock);
  const open = async () => (await other.read()).questions.map(({ id }) => id);
  await expect.poll(open).toEqual(['q_1']);
  return { clock, other: other.decisions, open, decision, sign, outcomes, withdrawal, answerThere };
};

describe('a question in the inbox', () => {
  test('is open until a holder of the key answers it', async () => {
    const { other, open, decision, sign, outcomes } = await asked();
    expect(await other.answer(sign())).toMatchObject({ surface: INBOX });
    expect(await decision).toMatchObject({ behavior: 'allow', by: 'inbox' });
    expect(await open()).toEqual([]);
    expect(outcomes).toEqual(['inbox accepted']);
  });

  test.each<[string, Partial<AnswerClaims>]>([
    ['another input', { inputDigest: 'other' }],
    ['another call', { call: 'c_2' }],
    ['another agent', { agent: 'a_2' }],
    ['a surface that has another key', { surface: 'terminal' }],
    ['a time before it was asked', { issuedAt: 0 }],
  ])('is not answered by an answer with %s, and stays open', async (_, claims) => {
    const { other, open, decision, sign, outcomes } = await asked();
    await other.answer(sign(claims));
    await expect.poll(open).toEqual(['q_1']);
    expect(outcomes).toEqual([]);
    await other.answer(sign({ answer: { behavior: 'deny', reason: 'no' } }));
    expect(await decision).toMatchObject({ behavior: 'deny', reason: 'no' });
  });

  test('is not answered by another key', async () => {
    const { other, open, sign, outcomes } = await asked();
    await other.answer(sign({}, generateKeyPairSync('ed25519').privateKey));
    await expect.poll(open).toEqual(['q_1']);
    expect(outcomes).toEqual([]);
  });

  test('has one winner, which the other answerer is told', async () => {
    const { other, sign, decision } = await asked();
    const first = sign();
    const answers = [first, sign({ answer: { behavior: 'deny', reason: 'no' } })];
    const winners = await Promise.all(answers.map((signed) => other.answer(signed)));
    expect(winners).toEqual([first, first]);
    expect(await decision).toMatchObject({ behavior: 'allow' });
  });

  test('that the terminal has answered is closed, and a late answer finds the winner', async () => {
    const { other, open, sign, decision, answerThere } = await asked();
    answerThere({ behavior: 'deny', reason: 'no' });
    expect(await decision).toMatchObject({ by: 'terminal' });
    await expect.poll(open).toEqual([]);
    expect(await other.answer(sign())).toMatchObject({
      surface: 'terminal',
      answer: { behavior: 'deny' },
    });
  });

  test('that another process has answered is closed for the terminal', async () => {
    const { other, sign, decision, outcomes, answerThere } = await asked();
    await other.answer(sign());
    answerThere({ behavior: 'deny', reason: 'too late' });
    expect(await decision).toMatchObject({ behavior: 'allow', by: 'inbox' });
    expect(outcomes.filter((outcome) => outcome.endsWith('accepted'))).toEqual(['inbox accepted']);
  });

  test('that is withdrawn or runs out of time is closed, and a late answer finds no question', async () => {
    const [one, two] = [await asked(), await asked()];
    one.withdrawal.abort();
    await two.clock.advance(60_000);
    for (const { other, open, sign, decision } of [one, two]) {
      expect(await decision).toMatchObject({ behavior: 'deny' });
      await expect.poll(open).toEqual([]);
      expect(await other.answer(sign())).toBeUndefined();
    }
  });
});
