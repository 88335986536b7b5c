/**
 * Rules that hold for every stream of stream-json: each message has a uuid of its own, an error result has
 * errors, a turn of input has one result, and the last message is a result.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import {
  calls,
  DRIVEN,
  type Line,
  pidIn,
  type Rules,
  STREAM,
  setScene,
  userLine,
} from '../../fakes/skein-process.js';

const FREE = ['--permission-mode', 'bypassPermissions'];
const isResult = ({ type }: Line) => type === 'result';

/** Checks the rules. Returns the results of the stream. */
const checkStream = (lines: readonly Line[]): readonly Line[] => {
  const messages = lines.filter(({ type }) => !type.startsWith('control_'));
  const uuids = messages.map(({ uuid }) => uuid as string);
  expect(uuids.filter((uuid) => !/^[0-9a-f-]{36}$/.test(uuid))).toEqual([]);
  expect(new Set(uuids).size).toBe(uuids.length);
  expect(new Set(messages.map(({ session_id }) => typeof session_id))).toEqual(new Set(['string']));
  expect(messages.at(-1)?.type).toBe('result');
  const results = messages.filter(isResult);
  for (const { is_error, subtype, errors } of results) {
    expect(subtype === 'success').toBe(!is_error);
    expect(errors).toEqual(is_error ? [expect.stringMatching(/./)] : undefined);
  }
  return results;
};

const inBackground = (command: string) => calls('Bash', { command, run_in_background: true });
const task = (prompt: string, more: Record<string, unknown> = {}) => ({
  name: 'Task',
  input: { description: prompt, prompt, subagent_type: 'implementer', ...more },
});
const START_AGENT = { tool_use: [task('part-slow', { run_in_background: true })] };
const START_TEAMMATE = { tool_use: [task('part-mate', { name: 'mate', team_name: 'geese' })] };
const WAIT = 'touch waits; until [ -e go ]; do sleep 0.05; done';

/** The agent ends when the file `go` exists. */
const SLOW_AGENT: Rules = [
  { match: { firstUser: 'part-slow', turn: 0 }, reply: calls('Bash', { command: WAIT }) },
  { match: { firstUser: 'part-slow' }, reply: 'SLOW-REPORT.' },
];
const TEAMMATE: Rules = [{ match: { firstUser: 'part-mate' }, reply: 'MATE-RESTS.' }];

const blockPrompts = JSON.stringify({
  hooks: {
    UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'echo Not today. >&2; exit 2' }] }],
  },
});

describe('a run of one prompt prints one result, as its last line', () => {
  test.each<{ name: string; rules?: Rules; flags?: readonly string[]; code?: number }>([
    {
      name: 'a background command still runs',
      rules: [{ match: { turn: 0 }, reply: inBackground('sleep 600') }, { reply: 'It runs.' }],
    },
    {
      name: 'a teammate is idle',
      rules: [...TEAMMATE, { match: { turn: 0 }, reply: START_TEAMMATE }, { reply: 'I see.' }],
    },
    { name: 'the budget is used up', flags: ['--max-budget-usd', '0'], code: 3 },
    { name: 'the model fails', rules: [{ reply: { error: { status: 400 } } }], code: 1 },
    {
      name: 'the turns are used up',
      rules: [{ reply: calls('Read', { file_path: 'x' }) }],
      flags: ['--max-turns', '1'],
      code: 3,
    },
    { name: 'a hook blocks the prompt', flags: ['--trust', '--settings', blockPrompts], code: 1 },
    { name: 'partial messages', flags: ['--include-partial-messages'] },
    { name: 'the session does not exist', flags: ['--resume', 'nope'], code: 2 },
    { name: 'the id of the session is not valid', flags: ['--session-id', 'not/an/id'], code: 2 },
  ])('if $name', async ({ rules, flags = [], code = 0 }) => {
    const { run } = await setScene(rules);
    const ended = await run(['-p', 'go', ...STREAM, ...FREE, ...flags]);
    expect([ended.code, checkStream(ended.lines)]).toEqual([code, [expect.anything()]]);
  });

  test.each(['json', 'stream-json'])('if it cannot start, in %s', async (format) => {
    const { run } = await setScene();
    const refused = await run(['-p', 'go', '--resume', 'nope', '--output-format', format]);
    expect(checkStream(refused.lines)).toMatchObject([
      { stop_reason: 'not_started', errors: [expect.stringContaining('no session "nope"')] },
    ]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('no session') });
  });

  test('if it waits for a background agent, and if it resumes a session with a teammate', async () => {
    const { start, run, workspace } = await setScene([
      ...SLOW_AGENT,
      ...TEAMMATE,
      {
        match: { turn: 0 },
        reply: { tool_use: [START_AGENT, START_TEAMMATE].flatMap((it) => it.tool_use) },
      },
      { reply: 'I see.' },
    ]);
    const first = start(['-p', 'go', ...STREAM, ...FREE, '--session-id', 'first']);
    first.endInput();
    await eventually('the agent works', () => existsSync(join(workspace, 'waits')));
    await writeFile(join(workspace, 'go'), '');
    const { lines, code } = await first.ended;
    expect([code, checkStream(lines)]).toMatchObject([0, [{ result: 'I see.' }]]);
    const again = await run(['-p', 'again', '--resume', 'first', ...STREAM, ...FREE]);
    expect([again.code, checkStream(again.lines)]).toMatchObject([0, [{ result: 'I see.' }]]);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('if %s ends it', async (signal) => {
    const { start, workspace } = await setScene([
      ...TEAMMATE,
      { match: { turn: 0 }, reply: START_TEAMMATE },
      { match: { turn: 1 }, reply: inBackground('sleep 600') },
      { reply: calls('Bash', { command: 'echo $$ > pid; sleep 600' }) },
    ]);
    const process = start(['-p', 'go', ...STREAM, ...FREE]);
    process.endInput();
    await eventually('the command runs', () => pidIn(workspace));
    process.kill(signal);
    const { lines, code } = await process.ended;
    expect([code, checkStream(lines)]).toMatchObject([130, [{ stop_reason: 'interrupted' }]]);
  });

  test('if a second signal ends it while it stops', async () => {
    const stubborn = 'trap "" TERM INT HUP; echo $$ > pid; while :; do sleep 0.1; done';
    const { start, workspace } = await setScene([{ reply: calls('Bash', { command: stubborn }) }]);
    const process = start(['-p', 'go', ...STREAM, ...FREE]);
    process.endInput();
    await eventually('the command runs', () => pidIn(workspace));
    process.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 100));
    process.kill('SIGTERM');
    const { lines, code } = await process.ended;
    expect([code, checkStream(lines)]).toMatchObject([130, [{ stop_reason: 'interrupted' }]]);
  });
});

describe('a run with stream-json input prints a result for each turn, as its last message', () => {
  test('if a background command still runs', async () => {
    const { start, workspace } = await setScene([
      { match: { turn: 0 }, reply: inBackground(WAIT) },
      { reply: 'It runs.' },
    ]);
    const process = start([...DRIVEN, ...FREE]);
    process.say(userLine('go'));
    await process.line(isResult);
    await eventually('the command runs', () => existsSync(join(workspace, 'waits')));
    process.endInput();
    const { lines, code, stderr } = await process.ended;
    expect([code, checkStream(lines)]).toMatchObject([0, [{ result: 'It runs.' }]]);
    expect(stderr).toContain('Background commands stopped with the session');
  });

  test('and holds a notice between two turns until the next turn', async () => {
    const { start, workspace } = await setScene([
      { match: { turn: 0 }, reply: inBackground(WAIT) },
      { reply: 'I see.' },
    ]);
    const process = start([...DRIVEN, ...FREE]);
    process.say(userLine('go'));
    await process.line(isResult);
    await writeFile(join(workspace, 'go'), '');
    await eventually('stderr has it', () => process.stderr.includes('bash_1 has ended'));
    const isNotice = ({ text }: Line) => text?.includes('bash_1 has ended') === true;
    expect(process.stdout).not.toContain('bash_1 has ended');
    process.say(userLine('and now?'));
    process.endInput();
    const { lines } = await process.ended;
    const results = checkStream(lines);
    expect(results).toHaveLength(2);
    const places = [results[0], lines.find(isNotice), results[1]].map((it) =>
      lines.indexOf(it ?? {}),
    );
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  test('and waits for background agents after stdin has ended', async () => {
    const { start, run, workspace, bodies } = await setScene([
      ...SLOW_AGENT,
      { match: { turn: 0 }, reply: START_AGENT },
      { match: { lastUser: 'SLOW-REPORT' }, reply: 'It has reported.' },
      { reply: 'It works.' },
    ]);
    const process = start([...DRIVEN, ...FREE]);
    process.say(userLine('go'));
    process.endInput();
    await process.line(isResult);
    await eventually('the agent works', () => existsSync(join(workspace, 'waits')));
    await writeFile(join(workspace, 'go'), '');
    const { lines, code } = await process.ended;
    expect([code, checkStream(lines)]).toMatchObject([
      0,
      [{ result: 'It works.' }, { result: 'It has reported.' }],
    ]);
    const [notification] = lines.filter(({ subtype }) => subtype === 'task_notification');
    expect(notification).toMatchObject({ status: 'completed', summary: 'SLOW-REPORT.' });
    const { swarms } = JSON.parse((await run(['ps', '--all', '--json'])).stdout) as Line;
    expect(swarms[0].agents.map(({ status }: Line) => status)).not.toContain('lost');
    expect(bodies()).toHaveLength(5);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'and ends at once on %s while a background agent works',
    async (signal) => {
      const { start, workspace } = await setScene([
        ...SLOW_AGENT,
        { match: { turn: 0 }, reply: START_AGENT },
        { reply: 'It works.' },
      ]);
      const process = start([...DRIVEN, ...FREE]);
      process.say(userLine('go'));
      await process.line(isResult);
      await eventually('the agent works', () => existsSync(join(workspace, 'waits')));
      process.kill(signal);
      const { lines, code } = await process.ended;
      expect([code, checkStream(lines)[0]]).toMatchObject([130, { result: 'It works.' }]);
    },
  );
});
