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

/** Asks a question in the inbox and in a terminal that answers on demand. */
const asked = async () => {
  const clock = virtualClock();
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const session = mkdtempSync(join(tmpdir(), 'inbox-'));
  onTestFinished(() => rmSync(session, { recursive: true, force: true }));
  const { board, decisions } = fileQuestions(session, clock);
  let answerInTerminal: (answer: PermissionAnswer) => void = () => {};
  const screen = {
    ask: () =>
      new Promise<PermissionAnswer>((resolve) => {
        answerInTerminal = resolve;
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
  // Second instance on the same files, as in another process.
  const second = fileQuestions(session, clock);
  const open = async () => (await second.read()).questions.map(({ id }) => id);
  await expect.poll(open).toEqual(['q_1']);
  return {
    clock,
    decisions: second.decisions,
    open,
    decision,
    sign,
    outcomes,
    withdrawal,
    answerInTerminal,
  };
};

describe('a question in the inbox', () => {
  test('is open until an answer with the right key arrives', async () => {
    const { decisions, open, decision, sign, outcomes } = await asked();
    expect(await decisions.answer(sign())).toMatchObject({ surface: INBOX });
    expect(await decision).toMatchObject({ behavior: 'allow', by: 'inbox' });
    expect(await open()).toEqual([]);
    expect(outcomes).toEqual(['inbox accepted']);
  });

  test.each<[string, Partial<AnswerClaims>]>([
    ['another input', { inputDigest: 'other' }],
    ['another call', { call: 'c_2' }],
    ['another agent', { agent: 'a_2' }],
    ['a surface with a different key', { surface: 'terminal' }],
    ['a time before the question', { issuedAt: 0 }],
  ])('stays open after an answer with %s', async (_, claims) => {
    const { decisions, open, decision, sign, outcomes } = await asked();
    await decisions.answer(sign(claims));
    await expect.poll(open).toEqual(['q_1']);
    expect(outcomes).toEqual([]);
    await decisions.answer(sign({ answer: { behavior: 'deny', reason: 'no' } }));
    expect(await decision).toMatchObject({ behavior: 'deny', reason: 'no' });
  });

  test('stays open after an answer with a different key', async () => {
    const { decisions, open, sign, outcomes } = await asked();
    await decisions.answer(sign({}, generateKeyPairSync('ed25519').privateKey));
    await expect.poll(open).toEqual(['q_1']);
    expect(outcomes).toEqual([]);
  });

  test('takes the first of two concurrent answers and returns it to both', async () => {
    const { decisions, sign, decision } = await asked();
    const first = sign();
    const answers = [first, sign({ answer: { behavior: 'deny', reason: 'no' } })];
    const winners = await Promise.all(answers.map((signed) => decisions.answer(signed)));
    expect(winners).toEqual([first, first]);
    expect(await decision).toMatchObject({ behavior: 'allow' });
  });

  test('is closed by an answer in the terminal, and a late answer gets the decision', async () => {
    const { decisions, open, sign, decision, answerInTerminal } = await asked();
    answerInTerminal({ behavior: 'deny', reason: 'no' });
    expect(await decision).toMatchObject({ by: 'terminal' });
    await expect.poll(open).toEqual([]);
    expect(await decisions.answer(sign())).toMatchObject({
      surface: 'terminal',
      answer: { behavior: 'deny' },
    });
  });

  test('is closed for the terminal by an answer of another process', async () => {
    const { decisions, sign, decision, outcomes, answerInTerminal } = await asked();
    await decisions.answer(sign());
    answerInTerminal({ behavior: 'deny', reason: 'too late' });
    expect(await decision).toMatchObject({ behavior: 'allow', by: 'inbox' });
    expect(outcomes.filter((outcome) => outcome.endsWith('accepted'))).toEqual(['inbox accepted']);
  });

  test('is closed by withdrawal or time-out, and a late answer gets no decision', async () => {
    const [withdrawn, timedOut] = [await asked(), await asked()];
    withdrawn.withdrawal.abort();
    await timedOut.clock.advance(60_000);
    for (const { decisions, open, sign, decision } of [withdrawn, timedOut]) {
      expect(await decision).toMatchObject({ behavior: 'deny' });
      await expect.poll(open).toEqual([]);
      expect(await decisions.answer(sign())).toBeUndefined();
    }
  });
});
