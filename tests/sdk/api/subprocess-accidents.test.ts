import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SkeinError } from '../../../src/protocol/skein-error.js';
import { queryWith } from '../../../src/sdk/api/query.js';
import { eventually } from '../../fakes/eventually.js';
import { calls, PROGRAM, pidIn, type Rules } from '../../fakes/skein-process.js';
import { allDead } from '../../host/process/processes.js';
import { all, kinds, PROGRAMS, resultOf } from './program.js';
import { subprocessProgram } from './subprocess-program.js';

const allow = () => ({ behavior: 'allow' }) as const;
const sleeping: Rules = [
  { match: { turn: 0 }, reply: calls('Bash', { command: 'echo $$ > pid; sleep 600' }) },
  { reply: 'Awake.' },
];

/** A process that opens a session, sends one message of the run, and then fails in some way. */
const failingProcess = (accident: string) => [
  process.execPath,
  '-e',
  `const say = (line) => console.log(JSON.stringify(line));
   process.stdin.once('data', () => {
     const response = { subtype: 'success', request_id: '1', response: { session_id: 's_1' } };
     say({ type: 'control_response', response });
     process.stdin.once('data', () => {
       say({ type: 'system', subtype: 'notice', text: 'so far', session_id: 's_1' });
       ${accident}
     });
   });`,
];

describe('an agent process that fails (T8)', () => {
  test.each([
    ['prints invalid JSON', 'console.log("goose");', /printed a line that is not a message/],
    ['prints JSON that is no object', 'console.log("7");', /printed a line that is not a message/],
    ['sends an invalid answer', 'say({ type: "control_response" });', /is not a message/],
    [
      'prints a line without an end',
      'const on = () => process.stdout.write("x".repeat(1 << 20), on); on();',
      /printed a line that does not end and was ended/,
    ],
    ['ends too early', 'process.exit(0);', /ended by itself with exit code 0/],
    [
      'prints a reason and ends',
      'console.error("one\\nno more geese"); process.exitCode = 7; process.stdin.destroy();',
      /ended by itself with exit code 7, saying "no more geese"/,
    ],
    ['ends within a line', 'process.stdout.write("{", () => process.exit(1));', /exit code 1;/],
  ])('and %s is reported in the result, and is ended', async (_, accident, sentence) => {
    const { ask, processes } = await subprocessProgram([], failingProcess(accident));
    const messages = await all(ask('hi'));
    expect(kinds(messages)).toEqual(['system/notice', 'result']);
    expect(messages.at(-1)).toMatchObject({
      subtype: 'error_during_execution',
      is_error: true,
      session_id: 's_1',
      result: expect.stringMatching(/^The agent's process .*; resume session s_1 to continue\.$/),
    });
    expect(messages.at(-1)).toMatchObject({ result: expect.stringMatching(sentence) });
    expect(allDead(processes())).toBe(true);
  });

  test('after its result has one result, and the next prompt another', async () => {
    const accident = 'say({ type: "result", session_id: "s_1", usage: {} }); process.exit(0);';
    const { options, openSession } = await subprocessProgram([], failingProcess(accident));
    const session = await openSession(options);
    expect(kinds(await all(session.query('hi')))).toEqual(['system/notice', 'result']);
    expect(await resultOf(session.query('again'))).toMatchObject({ stop_reason: 'lost' });
    await session.close();
  });

  test.each([
    ['cannot be started', ['/nowhere/skein'], /could not be started: .*ENOENT/],
    ['ends without output', [process.execPath, '-e', '0'], /ended by itself with exit code 0/],
    [
      'has no program file',
      [process.execPath, '/nowhere/skein.js'],
      /exit code 1, saying "Node\.js v/,
    ],
  ])('and %s fails the query', async (_, skein, sentence) => {
    const { options } = await subprocessProgram();
    const failed = all(queryWith({ ...PROGRAMS, skein })({ prompt: 'hi', options }));
    await expect(failed).rejects.toThrow(sentence);
    await expect(failed).rejects.toBeInstanceOf(SkeinError);
  });
});

describe('a run in another process (T8)', () => {
  test('is interrupted if its loop is left early, and leaves no process behind', async () => {
    const { ask, query, options, workspace, processes, journal } =
      await subprocessProgram(sleeping);
    const messages = ask('sleep', { canUseTool: allow });
    for await (const { type } of messages) {
      if (type !== 'tool_call') continue;
      await eventually('the command runs', () => pidIn(workspace));
      break;
    }
    expect(allDead([pidIn(workspace) ?? 0, ...processes()])).toBe(true);
    expect(await journal()).toContainEqual(
      expect.objectContaining({ type: 'run.ended', reason: 'interrupted' }),
    );
    const resume = messages.sessionId ?? '';
    const again = await resultOf(query({ prompt: 'and now?', options: { ...options, resume } }));
    expect(again).toMatchObject({ result: 'Awake.', session_id: resume });
  });

  test('runs in parallel with others, each in its own process', async () => {
    const { ask, processes } = await subprocessProgram([{ reply: '{{lastUser}}' }]);
    const names = ['goose', 'swan', 'crane'];
    const results = await Promise.all(names.map((name) => resultOf(ask(name))));
    expect(results.map(({ result }) => result)).toEqual(names);
    expect(new Set(processes()).size).toBe(3);
    expect(allDead(processes())).toBe(true);
  });

  test('ends at an abort; after an interrupt the session continues', async () => {
    const { openSession, options, workspace, processes } = await subprocessProgram(sleeping);
    const session = await openSession({ ...options, canUseTool: allow });
    const first = session.query('sleep');
    const running = resultOf(first);
    const pid = await eventually('the command runs', () => pidIn(workspace));
    await expect(all(session.query('at the same time'))).rejects.toThrow(/one prompt at a time/);
    first.interrupt();
    expect(await running).toMatchObject({ stop_reason: 'interrupted' });
    expect(allDead([pid])).toBe(true);
    expect(await resultOf(session.query('hi'))).toMatchObject({ result: 'Awake.' });
    const aborted = session.query('hi', { signal: AbortSignal.abort() });
    expect(await resultOf(aborted)).toMatchObject({ stop_reason: 'interrupted' });
    await session.close();
    await session.close();
    expect(processes()).toHaveLength(1);
    expect(allDead(processes())).toBe(true);
  });

  test('ends as interrupted if its session is closed', async () => {
    const { openSession, options, workspace, processes } = await subprocessProgram(sleeping);
    const session = await openSession({ ...options, canUseTool: allow });
    const running = resultOf(session.query('sleep'));
    const pid = await eventually('the command runs', () => pidIn(workspace));
    await session.close();
    expect(await running).toMatchObject({ stop_reason: 'interrupted' });
    expect(allDead([pid, ...processes()])).toBe(true);
  });
});

describe('a program whose agent runs in another process (T8)', () => {
  /** Starts a separate program with the built library. */
  const start = async (code: string) => {
    const { options, workspace, journal } = await subprocessProgram(sleeping);
    const sdk = pathToFileURL(join(dirname(PROGRAM), 'sdk.js')).href;
    const script = `
      import { openSession, query } from ${JSON.stringify(sdk)};
      const canUseTool = () => ({ behavior: 'allow' });
      const options = { ...${JSON.stringify(options)}, canUseTool };
      ${code}`;
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: workspace,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void host.kill('SIGKILL'));
    let output = '';
    host.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    return { host, workspace, journal, output: () => output, ended: once(host, 'close') };
  };

  test('ends that process too when it is killed', async () => {
    const { host, workspace, ended, journal } = await start(
      `for await (const _ of query({ prompt: 'sleep', options })) {}`,
    );
    const shell = await eventually('the command runs', () => pidIn(workspace));
    const agent = parentOf(shell);
    expect(allDead([agent])).toBe(false);
    host.kill('SIGKILL');
    await ended;
    await eventually('both have ended', () => allDead([shell, agent]));
    expect((await journal()).at(-1)).toMatchObject({ type: 'run.ended', reason: 'interrupted' });
  });

  const parentOf = (pid: number) =>
    Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }));

  test('can end while a session is idle', async () => {
    const { output, ended } = await start(
      `const session = await openSession({ ...options, title: 'at rest' });
       console.log(session.id);`,
    );
    expect(await ended).toEqual([0, null]);
    expect(output()).toMatch(/^s_\w+\n$/);
  });
});
