import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import {
  calls,
  DRIVEN,
  type Line,
  type Rules,
  resultsIn,
  setScene,
  userLine,
} from '../../fakes/skein-process.js';

const FREE = ['--permission-mode', 'bypassPermissions'];
const isResult = ({ type }: Line) => type === 'result';
const inBackground = (command: string) => calls('Bash', { command, run_in_background: true });
const WAITS_FOR_GO = 'while [ ! -e go ]; do sleep 0.05; done; echo gone';

/** Text of each block of the last message of a request. */
const lastBlocks = (body: Line | undefined): readonly string[] =>
  body?.messages.at(-1).content.map(({ text, content }: Line) => text ?? content) ?? [];

const drive = async (rules: Rules, flags: readonly string[] = FREE) => {
  const scene = await setScene(rules);
  return { ...scene, process: scene.start([...DRIVEN, ...flags]) };
};

describe('a command in the background', () => {
  test('that ends while its agent is idle sends no request and is reported before the next prompt', async () => {
    const { process, bodies, workspace } = await drive([
      { match: { turn: 0 }, reply: inBackground(WAITS_FOR_GO) },
      { match: { turn: 1 }, reply: 'It runs.' },
      {
        match: { turn: 2 },
        reply: calls('TaskOutput', { task_id: 'bash_1' }),
      },
      { reply: 'I see.' },
    ]);
    process.say(userLine('start it'));
    await process.line(isResult);
    await writeFile(join(workspace, 'go'), '');
    await eventually('stderr reports the end', () => process.stderr.includes('bash_1 has ended'));
    expect(bodies()).toHaveLength(2);
    process.say(userLine('and now?'));
    await process.line(({ result }) => result === 'I see.');
    process.endInput();
    expect(await process.ended).toMatchObject({ code: 0 });
    expect(lastBlocks(bodies()[2])).toEqual([
      expect.stringMatching(/^\[The background command bash_1 has ended with exit code 0\./),
      'and now?',
    ]);
    expect(lastBlocks(bodies()[3])).toEqual([expect.stringMatching(/exit code 0: .*\n\ngone\n$/s)]);
  });

  test('that ended with its process is explained to the model, and its id is not reused', async () => {
    const scene = await setScene([
      { match: { turn: 0 }, reply: inBackground('sleep 1000') },
      { match: { turn: 1 }, reply: 'It runs.' },
      { match: { turn: 2 }, reply: calls('TaskOutput', { task_id: 'bash_1' }) },
      { match: { turn: 3 }, reply: inBackground('sleep 1001') },
      { reply: 'Done.' },
    ]);
    const first = await scene.run(['-p', 'start it', ...FREE, '--session-id', 'one']);
    expect(first.stderr).toContain(
      'Background commands stopped with the session: bash_1 (sleep 1000)',
    );
    await scene.run(['-p', 'look', ...FREE, '--resume', 'one']);
    const [, , , looked, started] = scene.bodies();
    expect(resultsIn(looked)).toMatchObject([
      { is_error: true, content: expect.stringContaining('end with the process that started') },
    ]);
    expect(lastBlocks(started)).toEqual([expect.stringContaining('as bash_2')]);
  });
});

describe('an AskUser question', () => {
  const question = {
    question: 'Which colour?',
    options: [{ label: 'Red' }, { label: 'Blue', description: 'Like the sky.' }],
  };
  const rules: Rules = [
    { match: { turn: 0 }, reply: calls('AskUser', question) },
    { reply: 'Thanks.' },
  ];

  test.each(['default', 'plan'])(
    'is answered by the controlling program in mode %s',
    async (mode) => {
      const { process, bodies } = await drive(rules, ['--permission-mode', mode]);
      process.say(userLine('ask me'));
      const { request_id, request } = await process.line(({ type }) => type === 'control_request');
      expect(request).toEqual({
        subtype: 'ask_user',
        ...question,
        multiple: false,
        tool_use_id: expect.stringMatching(/^toolu_/),
      });
      const response = { subtype: 'success', request_id, response: { chosen: ['Blue'] } };
      process.say({ type: 'control_response', response });
      process.endInput();
      expect(await process.ended).toMatchObject({ code: 0, stderr: '' });
      expect(lastBlocks(bodies()[1])).toEqual(['The user chose: Blue']);
    },
  );

  test('fails in print mode and asks the model to state its assumption', async () => {
    const { run, bodies } = await setScene(rules);
    expect(await run(['-p', 'ask me'])).toMatchObject({ code: 0, stdout: 'Thanks.\n' });
    expect(resultsIn(bodies()[1])).toMatchObject([
      { is_error: true, content: expect.stringContaining('say in your answer what you assumed') },
    ]);
  });
});

describe('a todo list', () => {
  test('is written without a permission question and kept in a resumed session', async () => {
    const todos = [{ content: 'Look', status: 'in_progress' }];
    const { run, bodies } = await setScene([
      { match: { turn: 0 }, reply: calls('TodoWrite', { todos }) },
      { match: { turn: 1 }, reply: 'Kept.' },
      { match: { turn: 2 }, reply: calls('TodoRead', {}) },
      { reply: 'Done.' },
    ]);
    await run(['-p', 'plan it', '--permission-mode', 'plan', '--session-id', 'list']);
    await run(['-p', 'go on', '--permission-mode', 'dontAsk', '--resume', 'list']);
    expect(lastBlocks(bodies()[3])).toEqual(['1. [in_progress] Look']);
  });
});
