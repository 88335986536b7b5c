import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../../src/protocol/clock.js';
import { fileQuestions } from '../../../../src/store/files/questions/file-questions.js';
import { virtualClock } from '../../../fakes/virtual-clock.js';
import { describeQuestions, postedQuestion, signedBy } from '../../contracts/questions.js';

const setUp = (clock = systemClock) => {
  const session = mkdtempSync(join(tmpdir(), 'questions-'));
  onTestFinished(() => rmSync(session, { recursive: true, force: true }));
  const open = () => fileQuestions(session, clock);
  return { session, folder: join(session, 'questions'), open };
};

describeQuestions('in files', async () => {
  const { session, open } = setUp();
  return {
    open,
    address: [session, ''],
    storeDecision: async (id, value) => {
      await mkdir(join(session, 'decisions'), { recursive: true });
      writeFileSync(join(session, 'decisions', `${id}.json`), value);
    },
  };
});

describe('the questions of a session in files', () => {
  test('and their decisions are readable by the owner only', async () => {
    const { session, folder, open } = setUp();
    const { board, decisions } = open();
    await board.post(postedQuestion('q_a'));
    await decisions.decide(signedBy('ann', 'q_b'));
    const kept = join(session, 'decisions');
    const paths = [folder, join(folder, 'q_a.json'), kept, join(kept, 'q_b.json')];
    expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600, 0o700, 0o600]);
  });

  test('and decisions of a dead owner are cleared', async () => {
    const { session, open } = setUp();
    const { board, decisions, read } = open();
    await board.clear();
    expect(await readdir(session)).toEqual([]);
    await board.post(postedQuestion('q_a'));
    await decisions.decide(signedBy('ann', 'q_b'));
    await board.clear();
    expect(await read()).toEqual({ questions: [], leftOut: 0 });
    expect(await decisions.find('q_b')).toBeUndefined();
  });

  test('are counted as left out when a file is not a question', async () => {
    const { folder, open } = setUp();
    const { board, read } = open();
    await board.post(postedQuestion('q_a'));
    writeFileSync(join(folder, 'q_torn.json'), '{"id":"q_torn"');
    writeFileSync(join(folder, 'q_other.json'), JSON.stringify(postedQuestion('q_a')));
    symlinkSync(join(folder, 'q_a.json'), join(folder, 'q_link.json'));
    const { questions, leftOut } = await read();
    expect(questions).toMatchObject([{ id: 'q_a' }]);
    expect(leftOut).toBe(3);
  });

  test('are not decided by a link to an answer', async () => {
    const { session, open } = setUp();
    const { decisions } = open();
    await mkdir(join(session, 'decisions'));
    writeFileSync(join(session, 'answer.json'), JSON.stringify(signedBy('mallory')));
    symlinkSync(join(session, 'answer.json'), join(session, 'decisions', 'q_a.json'));
    await expect(decisions.find('q_a')).rejects.toMatchObject({ code: 'storage' });
    expect(await decisions.decide(signedBy('ann'))).toEqual(signedBy('ann'));
  });

  test('are decided even if the file system reports no change of the folder', async () => {
    const clock = virtualClock();
    const { session, open } = setUp(clock);
    const decided = open().decisions.waitFor('q_a', new AbortController().signal);
    // A watch of a removed folder reports nothing about the folder that replaces it.
    await rm(join(session, 'decisions'), { recursive: true });
    await open().decisions.decide(signedBy('ann'));
    await clock.advance(1_000);
    expect(await decided).toEqual(signedBy('ann'));
  });
});
