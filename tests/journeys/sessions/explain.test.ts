import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DRIVEN, type Line, setScene, userLine } from '../../fakes/skein-process.js';

const bash = (command: string) => ({ name: 'Bash', input: { command } });

/** A run of three calls: a Bash call that a project rule denies, a Write, and an Edit of the same file. */
const runThreeCalls = async () => {
  const write = { name: 'Write', input: { file_path: 'notes.md', content: 'one\n' } };
  const edit = {
    name: 'Edit',
    input: { file_path: 'notes.md', old_string: 'one', new_string: 'two' },
  };
  const scene = await setScene([
    { match: { turn: 0 }, reply: { tool_use: [bash('make all')] } },
    { match: { turn: 1 }, reply: { tool_use: [write] } },
    { match: { turn: 2 }, reply: { tool_use: [edit] } },
    { reply: 'Done.' },
  ]);
  await mkdir(join(scene.workspace, '.claude'));
  const settings = join(scene.workspace, '.claude/settings.json');
  await writeFile(
    settings,
    '{\n  "permissions": {\n    "deny": [\n      "Bash(make:*)"\n    ]\n  }\n}\n',
  );
  const mode = ['--permission-mode', 'acceptEdits'];
  const { code } = await scene.run(['-p', 'go', '--output-format', 'json', ...mode]);
  expect(code).toBe(0);
  const explain = async (...args: string[]): Promise<Line> => {
    const ended = await scene.run(['explain', ...args, '--json']);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(ended.stdout) as Line;
  };
  return { ...scene, settings, explain };
};

describe('skein explain', () => {
  test('shows rulings, rules, files and earlier calls of an executed call and of a denied call', async () => {
    const { run, explain, settings, workspace } = await runThreeCalls();
    const { calls, session } = await explain();
    expect(calls.map((call: Line) => `${call.number} ${call.tool} ${call.outcome}`)).toEqual([
      '1 Bash denied',
      '2 Write ok',
      '3 Edit ok',
    ]);

    const denied = await explain(session as string, '1');
    expect(denied.rulings).toMatchObject([
      { step: 'deny', rule: 'Bash(make:*)', source: 'project', file: settings, line: 4 },
    ]);
    expect(denied.rulings[0].instead).toMatch(/removing that rule/);

    const edited = await explain((calls[2] as Line).call as string);
    expect(edited.rulings).toMatchObject([{ behavior: 'allow', step: 'mode' }]);
    expect(edited.files).toMatchObject([
      { path: join(workspace, 'notes.md'), earlier: [{ number: 2, tool: 'Write' }] },
    ]);
    expect(edited.seen).toMatchObject([{ number: 2, tool: 'Write', isSame: true }]);

    const { stdout } = await run(['explain', '1']);
    expect(stdout).toContain('Why it did not run');
    expect(stdout).toContain(`Rule Bash(make:*) of ${settings}:4`);
  });

  test('shows the answer of a controlling program to a question', async () => {
    const scene = await setScene([
      { match: { turn: 0 }, reply: { tool_use: [bash('make all')] } },
      { reply: 'Done.' },
    ]);
    const process = scene.start(DRIVEN);
    process.say(userLine('go'));
    const { request_id } = await process.line(({ type }) => type === 'control_request');
    const response = { behavior: 'deny', message: 'not today' };
    process.say({
      type: 'control_response',
      response: { subtype: 'success', request_id, response },
    });
    await process.line(({ type }) => type === 'result');
    process.endInput();
    await process.ended;
    const { stdout } = await scene.run(['explain', '1', '--json']);
    const { questions, rulings } = JSON.parse(stdout) as Line;
    expect(questions).toMatchObject([{ answers: [{ outcome: 'accepted' }] }]);
    expect(rulings.at(-1)).toMatchObject({
      behavior: 'deny',
      step: 'callback',
      reason: 'not today',
    });
  });

  test('fails with a single error line for an unknown call or session', async () => {
    const { run } = await runThreeCalls();
    const missing = await run(['explain', '9']);
    expect([missing.code, missing.stderr]).toEqual([
      2,
      'skein: There is no call "9"; the session has 3 calls, numbered from 1. Leave out the call to list them.\n',
    ]);
    expect((await run(['explain', 'nobody', '1'])).code).toBe(2);
  });
});
