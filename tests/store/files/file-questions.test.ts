import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { PostedQuestion } from '../../../src/protocol/session/question-board.js';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { fileQuestions } from '../../../src/store/files/file-questions.js';

const question = (id: string, askedAt: number, input: unknown = {}): PostedQuestion => ({
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

const board = () => {
  const session = mkdtempSync(join(tmpdir(), 'board-'));
  onTestFinished(() => rmSync(session, { recursive: true, force: true }));
  const { board: questions, read } = fileQuestions(session);
  return { session, folder: join(session, 'questions'), read, ...questions };
};

describe('a board of questions', () => {
  test('holds them oldest first until they are withdrawn', async () => {
    const { folder, post, read, withdraw } = board();
    await post(question('q_a', 2));
    await post(question('q_b', 1, { command: 'make\n', list: [1, null] }));
    expect(await read()).toEqual({
      questions: [question('q_b', 1, { command: 'make\n', list: [1, null] }), question('q_a', 2)],
      leftOut: 0,
    });
    const modes = [folder, join(folder, 'q_a.json')].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
    await withdraw('q_b');
    await withdraw('q_never');
    expect((await read()).questions).toMatchObject([{ id: 'q_a' }]);
  });

  test('keeps what a question says of the file that would be replaced', async () => {
    const { post, read } = board();
    const asked = { ...question('q_a', 1), replaces: { bytes: 4, lines: 1, text: 'one\n' } };
    await post(asked);
    expect((await read()).questions).toEqual([asked]);
  });

  test('is cleared of what a dead owner has left', async () => {
    const { post, clear, read } = board();
    await clear();
    await post(question('q_a', 1));
    await clear();
    expect(await read()).toEqual({ questions: [], leftOut: 0 });
  });

  test('leaves out what is no question of ours, and says so', async () => {
    const { folder, post, read } = board();
    await post(question('q_a', 1));
    writeFileSync(join(folder, 'q_torn.json'), '{"id":"q_torn"');
    writeFileSync(join(folder, 'q_other.json'), JSON.stringify(question('q_a', 1)));
    symlinkSync(join(folder, 'q_a.json'), join(folder, 'q_link.json'));
    const { questions, leftOut } = await read();
    expect(questions).toMatchObject([{ id: 'q_a' }]);
    expect(leftOut).toBe(3);
  });

  test('refuses what is too long, and a name that leads elsewhere', async () => {
    const { session, post } = board();
    const long = { content: 'x'.repeat(5_000_000) };
    await expect(post(question('q_a', 1, long))).rejects.toThrow(UsageError);
    await expect(post(question('../q_a', 1))).rejects.toThrow(UsageError);
    expect(readdirSync(session)).toEqual([]);
  });
});
