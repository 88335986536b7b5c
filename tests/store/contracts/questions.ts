/** Contract of permission questions and their decisions, for every store that processes share. */
import { describe, expect, test } from 'vitest';
import type { SignedAnswer } from '../../../src/protocol/permission/signed-answer.js';
import type {
  PostedQuestion,
  QuestionStore,
} from '../../../src/protocol/session/question-board.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { bundled, startWorker } from '../child-program.js';

export interface QuestionBackend {
  /** Opens the questions of a session as another process would. */
  open(): QuestionStore;
  /** Stores bytes where the decision on a question is kept. */
  storeDecision(question: string, value: string | Buffer): Promise<void>;
  /** Arguments with which the program `decide-questions` finds the same session. */
  readonly address: readonly string[];
}

const never = new AbortController().signal;

export const postedQuestion = (id: string, askedAt = 1, input: unknown = {}): PostedQuestion => ({
  id,
  agent: 'a_1',
  call: 'c_1',
  tool: 'Bash',
  input,
  inputDigest: 'd',
  askedAt,
  description: 'Bash make',
  reason: 'why',
  risk: 'medium',
  cwd: '/w',
});

export const signedBy = (surface: string, question = 'q_a'): SignedAnswer => ({
  question,
  agent: 'a_1',
  call: 'c_1',
  inputDigest: 'd',
  surface,
  issuedAt: 1,
  answer: { behavior: 'deny', reason: 'No.' },
  signature: `of ${surface}`,
});

export const describeQuestions = (
  name: string,
  setUp: () => Promise<QuestionBackend>,
  suite: (title: string, tests: () => void) => void = describe,
): void => {
  suite(`the questions of a session ${name}`, () => {
    test('are visible to every process, oldest first, until they are withdrawn', async () => {
      const { open } = await setUp();
      const { board } = open();
      await board.post(postedQuestion('q_a', 2));
      const old = {
        ...postedQuestion('q_b', 1, { command: 'make\n', list: [1, null] }),
        replaces: { bytes: 4, lines: 1, text: 'one\n' },
      };
      await board.post(old);
      expect(await open().read()).toEqual({
        questions: [old, postedQuestion('q_a', 2)],
        leftOut: 0,
      });
      await board.withdraw('q_b');
      await board.withdraw('q_never');
      expect((await open().read()).questions).toMatchObject([{ id: 'q_a' }]);
    });

    test('are rejected if they are too long, or if their id is a path', async () => {
      const { open } = await setUp();
      const { board, decisions, read } = open();
      const long = { content: 'x'.repeat(5_000_000) };
      await expect(board.post(postedQuestion('q_a', 1, long))).rejects.toThrow(UsageError);
      await expect(board.post(postedQuestion('../q_a'))).rejects.toThrow(UsageError);
      await expect(decisions.decide(signedBy('x', 'a b'))).rejects.toThrow(UsageError);
      await expect(decisions.answer(signedBy('x', '../b'))).rejects.toThrow(UsageError);
      await expect(decisions.find('../b')).rejects.toThrow(UsageError);
      expect(await read()).toEqual({ questions: [], leftOut: 0 });
    });

    test('have a single decision, which every process reads', async () => {
      const { open } = await setUp();
      const [ann, bob] = [open(), open()];
      await ann.board.post(postedQuestion('q_a'));
      expect(await bob.decisions.find('q_a')).toBeUndefined();
      const waiting = [ann, bob].map(({ decisions }) => decisions.waitFor('q_a', never));
      const first = signedBy('ann');
      expect(await ann.decisions.decide(first)).toEqual(first);
      expect(await bob.decisions.decide(signedBy('bob'))).toEqual(first);
      expect(await bob.decisions.answer(signedBy('bob'))).toEqual(first);
      // Sent again because the reply was lost.
      expect(await ann.decisions.decide(first)).toEqual(first);
      expect(await Promise.all(waiting)).toEqual([first, first]);
      expect(await bob.decisions.waitFor('q_a', never)).toEqual(first);
      expect(await bob.decisions.find('q_a')).toEqual(first);
      expect((await bob.read()).questions).toEqual([]);
    });

    test('that are decided are not posted again', async () => {
      const { open } = await setUp();
      const { board, decisions, read } = open();
      await decisions.decide(signedBy('ann'));
      await board.post(postedQuestion('q_a'));
      await board.post(postedQuestion('q_b'));
      expect((await read()).questions).toMatchObject([{ id: 'q_b' }]);
    });

    test('are answered by another process only while they are open', async () => {
      const { open } = await setUp();
      const [asker, other] = [open(), open()];
      expect(await other.decisions.answer(signedBy('other'))).toBeUndefined();
      await asker.board.post(postedQuestion('q_a'));
      await asker.board.withdraw('q_a');
      expect(await other.decisions.answer(signedBy('other'))).toBeUndefined();
      expect(await asker.decisions.find('q_a')).toBeUndefined();
      await asker.board.post(postedQuestion('q_a'));
      expect(await other.decisions.answer(signedBy('other'))).toEqual(signedBy('other'));
      expect(await asker.decisions.waitFor('q_a', never)).toEqual(signedBy('other'));
      expect((await other.read()).questions).toEqual([]);
    });

    test('can be decided after an invalid answer was retracted', async () => {
      const { open, storeDecision } = await setUp();
      const { decisions } = open();
      const forged = signedBy('mallory');
      const { answer, ...rest } = forged;
      await storeDecision('q_a', JSON.stringify({ answer, ...rest }));
      expect(await decisions.waitFor('q_a', never)).toEqual(forged);
      const good = signedBy('ann');
      await decisions.retract('q_a', good);
      await decisions.retract('q_b', good);
      expect(await decisions.decide(good)).toEqual(forged);
      await decisions.retract('q_a', forged);
      const waiting = decisions.waitFor('q_a', never);
      expect(await decisions.decide(good)).toEqual(good);
      expect(await waiting).toEqual(good);
    });

    test.each([
      ['torn JSON', 'torn {'],
      ['bytes that are not text', Buffer.from([0x7b, 0xff, 0xfe])],
      ['an answer to another question', JSON.stringify(signedBy('ann', 'q_b'))],
      ['an unsigned answer', '{"question":"q_a"}'],
    ])('stay open after %s is stored instead of an answer', async (_, value) => {
      const { open, storeDecision } = await setUp();
      const { decisions } = open();
      await storeDecision('q_a', value);
      await expect(decisions.find('q_a')).rejects.toMatchObject({ code: 'storage' });
      await storeDecision('q_a', value);
      await expect(decisions.waitFor('q_a', never)).rejects.toMatchObject({ code: 'storage' });
      await storeDecision('q_a', value);
      const good = signedBy('ann');
      expect(await decisions.decide(good)).toEqual(good);
      expect(await decisions.waitFor('q_a', never)).toEqual(good);
    });

    test('are waited for until the caller aborts', async () => {
      const { open } = await setUp();
      const controller = new AbortController();
      const waiting = open().decisions.waitFor('q_a', controller.signal);
      controller.abort(new Error('never mind'));
      const late = open().decisions.waitFor('q_a', controller.signal);
      for (const wait of [waiting, late]) await expect(wait).rejects.toThrow('never mind');
    });

    test('notify watchers when they are posted, withdrawn and decided', async () => {
      const { open } = await setUp();
      const { board, decisions } = open();
      let changes = 0;
      const stop = open().watch(() => {
        changes += 1;
      });
      for (const change of [
        () => board.post(postedQuestion('q_a')),
        () => board.withdraw('q_a'),
        () => board.post(postedQuestion('q_b')),
        () => decisions.decide(signedBy('ann', 'q_b')),
      ]) {
        const before = changes;
        await change();
        await expect.poll(() => changes).toBeGreaterThan(before);
      }
      stop();
    });

    test('are decided once each when two processes answer a thousand of them at once', async () => {
      const { open, address } = await setUp();
      const { board, decisions, read } = open();
      const ids = Array.from({ length: 1_000 }, (_, at) => `q_${at}`);
      await Promise.all(ids.map((id) => board.post(postedQuestion(id))));
      const waiting = ids.map((id) => decisions.waitFor(id, new AbortController().signal));
      const program = await bundled('decide-questions');
      const workers = ['ann', 'bob'].map((name) => startWorker(program, ...address, name));
      for (const worker of workers) expect(await worker.answer()).toBe('1000');
      const reports = await Promise.all(
        workers.map(async (worker) => {
          worker.tell('decide');
          return JSON.parse(await worker.answer()) as Record<string, string>;
        }),
      );
      const winners = (await Promise.all(waiting)).map(({ surface }) => surface);
      for (const report of reports) expect(ids.map((id) => report[id])).toEqual(winners);
      expect(winners.filter((name) => name !== 'ann' && name !== 'bob')).toEqual([]);
      expect(await read()).toEqual({ questions: [], leftOut: 0 });
    });
  });
};
