import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/protocol/clock.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { answerQuestion, openQuestions } from '../../../src/sdk/control/open-questions.js';
import { FileSessionStore } from '../../../src/store/files/file-session-store.js';
import { openPersonKey } from '../../../src/store/files/person-key.js';
import { postedQuestion, signedBy } from '../../store/contracts/questions.js';
import { meta } from '../../store/contracts/records.js';

/** A session in files that asks a question, as a second terminal finds it. */
const askInSession = async () => {
  const home = mkdtempSync(join(tmpdir(), 'answers-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const owner = { marker: 'lead', pid: process.pid };
  const store = new FileSessionStore({
    root: join(home, 'sessions'),
    owner,
    isOwnerAlive: () => true,
    clock: systemClock,
  });
  const session = await store.create(meta());
  const { board, decisions } = store.questions(session.meta.id);
  await board.post(postedQuestion('q_a'));
  const [open] = (await openQuestions(store)).questions;
  if (open === undefined) throw new Error('the question is not open');
  const host = { env: { SKEIN_HOME: join(home, 'skein') }, home, cwd: home };
  openPersonKey(join(home, 'skein', 'keys'));
  const allow = () => answerQuestion(host, store, open, { behavior: 'allow' });
  return { session, decisions, allow };
};

test('an answer that the process that asks has not checked yet is called unconfirmed', async () => {
  const { allow } = await askInSession();
  const { ok, sentence } = await allow();
  expect(ok).toBe(true);
  expect(sentence).toContain('has not confirmed the answer yet');
});

describe('an answer to a session that ended after its question was read', () => {
  test('is refused with the earlier answer', async () => {
    const { session, decisions, allow } = await askInSession();
    await decisions.decide(signedBy('inbox', 'q_a'));
    await session.close();
    expect(await allow()).toMatchObject({
      ok: false,
      sentence: 'Too late: another terminal has denied it already.',
    });
  });

  test('is refused because the session is not running if there is no earlier answer', async () => {
    const { session, allow } = await askInSession();
    await session.close();
    await expect(allow()).rejects.toThrow(UsageError);
  });
});
