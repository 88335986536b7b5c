import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import {
  calls,
  DRIVEN,
  type Line,
  pidIn,
  type Reply,
  type Rules,
  type Running,
  resultsIn,
  setScene,
  userLine,
} from '../../fakes/skein-process.js';

/** Starts a run that a program controls with JSON lines. */
const drive = async (rules: Rules, flags: readonly string[] = []) => {
  const scene = await setScene(rules);
  const process = scene.start([...DRIVEN, ...flags]);
  return { ...scene, process, say: process.say };
};

const isResult = ({ type }: Line) => type === 'result';
const isQuestion = ({ type }: Line) => type === 'control_request';

/** The `n`th result, counted from 1. */
const resultNumber = async (process: Running, n: number): Promise<Line> => {
  let count = 0;
  const seen = new Set<string>();
  return process.line((line) => {
    if (isResult(line) && !seen.has(line.uuid)) {
      seen.add(line.uuid);
      count += 1;
    }
    return isResult(line) && count === n;
  });
};

const answer = (request_id: string, response: Line): Line => ({
  type: 'control_response',
  response: { subtype: 'success', request_id, response },
});

const end = async (process: Running) => {
  process.endInput();
  const { code, lines, stderr } = await process.ended;
  return { code, lines, stderr, results: lines.filter(isResult) };
};

describe('a run with stream-json input', () => {
  test('answers several prompts in a process and keeps the conversation', async () => {
    const { process, say, bodies } = await drive([
      { match: { turn: 0 }, reply: 'First answer.' },
      { match: { turn: 1 }, reply: 'Second answer.' },
    ]);
    say(userLine('first'));
    await resultNumber(process, 1);
    say({ type: 'user', message: { role: 'user', content: [{ type: 'text', text: 'second' }] } });
    await resultNumber(process, 2);
    const { code, results, lines } = await end(process);
    expect(code).toBe(0);
    expect(results.map(({ result, num_turns }) => [result, num_turns])).toEqual([
      ['First answer.', 1],
      ['Second answer.', 1],
    ]);
    expect(lines.filter(({ subtype }) => subtype === 'init')).toHaveLength(1);
    expect(bodies()[1]?.messages).toMatchObject([
      { role: 'user', content: [{}, { text: 'first' }] },
      { role: 'assistant', content: [{ text: 'First answer.' }] },
      { role: 'user', content: [{ text: 'second' }] },
    ]);
  });

  test('prints only its init line before the first prompt', async () => {
    const { process } = await drive([]);
    await process.line(({ subtype }) => subtype === 'init');
    const { code, lines } = await end(process);
    expect(code).toBe(0);
    expect(lines.map(({ type }) => type)).toEqual(['system']);
  });

  test('answers the last prompt after stdin has ended', async () => {
    const { process, say } = await drive([{ reply: { text: 'Late answer.', delayMs: 100 } }]);
    say(userLine('go'));
    const { code, results } = await end(process);
    expect(code).toBe(0);
    expect(results).toMatchObject([{ result: 'Late answer.' }]);
  });

  test('exits while stdin is open if its budget allows no further request', async () => {
    const { process, say, simulator } = await drive([], ['--max-budget-usd', '0']);
    say(userLine('go'));
    expect(await process.ended).toMatchObject({ code: 3, result: { stop_reason: 'budget' } });
    expect(simulator.requests).toEqual([]);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'exits on %s, while idle and while a request runs',
    async (signal) => {
      const idle = await drive([{ reply: 'Done.' }]);
      idle.say(userLine('go'));
      await idle.process.line(isResult);
      idle.process.kill(signal);
      expect(await idle.process.ended).toMatchObject({ code: 130, stderr: '' });

      const working = await drive([{ reply: { text: 'Late.', delayMs: 60_000 } }]);
      working.say(userLine('go'));
      await working.process.line(({ subtype }) => subtype === 'init');
      working.process.kill(signal);
      expect(await working.process.ended).toMatchObject({ code: 130 });
    },
  );

  test('answers a prompt that arrives while the last answer is being stored', async () => {
    const { process, say, bodies } = await drive([
      { match: { lastUser: 'first' }, reply: 'First answer.' },
      { reply: 'Second answer.' },
    ]);
    say(userLine('first'));
    await process.line(({ type }) => type === 'assistant');
    say(userLine('second'));
    const { code, lines } = await end(process);
    expect(code).toBe(0);
    expect(lines.at(-1)).toMatchObject({ type: 'result', result: 'Second answer.' });
    expect(bodies()).toHaveLength(2);
  });

  test('answers a prompt from the command line first', async () => {
    const { process, bodies } = await drive([{ reply: 'Done.' }], ['from the argument']);
    const { results } = await end(process);
    expect(results).toHaveLength(1);
    expect(bodies()[0]?.messages[0].content.at(-1).text).toBe('from the argument');
  });

  test('keeps Unicode line separators inside of a prompt', async () => {
    const { process, say, bodies } = await drive([{ reply: 'Done.' }]);
    say(userLine('one\u2028two\u2029three\u0085four\rfive'));
    const { stderr } = await end(process);
    expect(stderr).toBe('');
    expect(bodies()[0]?.messages[0].content.at(-1).text).toBe(
      'one\u2028two\u2029three\u0085four\rfive',
    );
  });
});

describe('an invalid input line', () => {
  test.each([
    ['no JSON', 'not json\n', /Line 1 of stdin is not JSON/],
    ['a truncated line', '{"type":"user",\n', /Line 1 of stdin is not JSON/],
    ['an unknown type', '{"type":"weather"}\n', /Line 1 of stdin/],
    ['a user line without a message', '{"type":"user"}\n', /Line 1 of stdin/],
    [
      'an answer without an open question',
      `${JSON.stringify(answer('q', {}))}\n`,
      /no open question/,
    ],
    ['a prompt without text', `${JSON.stringify(userLine(''))}\n`, /Line 1 of stdin/],
    [
      'a prompt with a tool_result block',
      '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}}\n',
      /Line 1 of stdin/,
    ],
  ])('is reported on stderr, and the run continues: %s', async (_, line, warning) => {
    const { process, say, simulator } = await drive([{ reply: 'Done.' }]);
    process.write(line);
    say(userLine('go'));
    const { code, results, stderr } = await end(process);
    expect(stderr).toMatch(warning);
    expect({ code, results: results.map(({ result }) => result as string) }).toEqual({
      code: 0,
      results: ['Done.'],
    });
    expect(simulator.requests).toHaveLength(1);
  });

  test('is skipped without a warning if it is empty', async () => {
    const { process, say } = await drive([{ reply: 'Done.' }]);
    process.write('\n  \r\n');
    say(userLine('go'));
    expect(await end(process)).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a permission question to the controlling program', () => {
  const command = calls('Bash', { command: 'echo original > made.txt' });
  const asking: Rules = [{ match: { turn: 0 }, reply: command }, { reply: 'Done.' }];

  const ask = async (response: Line) => {
    const scene = await drive(asking);
    scene.say(userLine('go'));
    const question = await scene.process.line(isQuestion);
    scene.say(answer(question.request_id, response));
    const ended = await end(scene.process);
    const made = join(scene.workspace, 'made.txt');
    return {
      ...ended,
      question,
      body: scene.bodies().at(-1),
      made: existsSync(made) ? await readFile(made, 'utf8') : undefined,
    };
  };

  test('names the call, its tool and its input', async () => {
    const { question, lines, code, made } = await ask({ behavior: 'allow' });
    const call = lines.find(({ type }) => type === 'assistant')?.message.content[0];
    expect(question.request).toMatchObject({
      subtype: 'can_use_tool',
      tool_name: 'Bash',
      tool_use_id: call.id,
      input: { command: 'echo original > made.txt' },
    });
    expect({ code, made }).toEqual({ code: 0, made: 'original\n' });
  });

  test('can be answered with another input, which then runs', async () => {
    const updatedInput = { command: 'echo changed > made.txt' };
    const { made, body } = await ask({ behavior: 'allow', updatedInput });
    expect(made).toBe('changed\n');
    expect(body?.messages[1].content[0].input).toEqual({ command: 'echo original > made.txt' });
  });

  test('can be answered with an invalid input, and the model reads the error', async () => {
    const { made, body } = await ask({ behavior: 'allow', updatedInput: { nonsense: true } });
    expect(made).toBeUndefined();
    expect(resultsIn(body)).toMatchObject([
      { is_error: true, content: expect.stringContaining('is not valid') },
    ]);
  });

  test('can be denied with a message that the model reads', async () => {
    const { made, body, code, results } = await ask({ behavior: 'deny', message: 'Not today.' });
    expect({ made, code }).toEqual({ made: undefined, code: 0 });
    expect(resultsIn(body)).toMatchObject([{ is_error: true, content: 'Not today.' }]);
    expect(results[0]?.permission_denials).toMatchObject([
      { tool_name: 'Bash', tool_input: { command: 'echo original > made.txt' } },
    ]);
  });

  test('is denied if the answer is invalid', async () => {
    const { made, code } = await ask({ behavior: 'perhaps' });
    expect({ made, code }).toEqual({ made: undefined, code: 0 });
  });

  test('is denied when the controlling program closes stdin', async () => {
    const { process, say, bodies } = await drive(asking);
    say(userLine('go'));
    await process.line(isQuestion);
    expect(await end(process)).toMatchObject({ code: 0 });
    expect(resultsIn(bodies().at(-1))).toMatchObject([{ is_error: true }]);
  });

  test('is not repeated after an answer for the session', async () => {
    const { process, say, bodies } = await drive([
      { match: { turn: { max: 1 } }, reply: calls('Bash', { command: 'touch made' }) },
      { reply: 'Done.' },
    ]);
    say(userLine('go'));
    const { request_id } = await process.line(isQuestion);
    say(answer(request_id, { behavior: 'allow', scope: 'session' }));
    await process.line(isResult);
    const { lines } = await end(process);
    expect(lines.filter(isQuestion)).toHaveLength(1);
    expect(bodies()).toHaveLength(3);
    expect(resultsIn(bodies().at(-1))).toMatchObject([{ content: '(no output)' }]);
  });
});

describe('an answer for the project', () => {
  const twice: Rules = [
    { match: { turn: { max: 1 } }, reply: calls('Bash', { command: 'touch made' }) },
    { reply: 'Done.' },
  ];

  test('applies to the next plain run in a trusted workspace', async () => {
    const scene = await setScene(twice);
    await scene.run(['trust']);
    const process = scene.start(DRIVEN);
    process.say(userLine('go'));
    const { request_id } = await process.line(isQuestion);
    process.say(answer(request_id, { behavior: 'allow', scope: 'project' }));
    await end(process);
    await rm(join(scene.workspace, 'made'));
    const { result } = await scene.run(['-p', 'go', '--output-format', 'json']);
    expect(result.permission_denials).toEqual([]);
    expect(existsSync(join(scene.workspace, 'made'))).toBe(true);
  });

  test('that cannot be saved applies to the session only, and stderr says so', async () => {
    const { process, say, workspace } = await drive(twice);
    say(userLine('go'));
    const { request_id } = await process.line(isQuestion);
    await writeFile(join(workspace, '.skein'), 'a file where a folder should be');
    say(answer(request_id, { behavior: 'allow', scope: 'project' }));
    const { code, lines, stderr } = await end(process);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^skein: The rule was not saved and applies to this session only: .+\n$/,
    );
    expect(lines.filter(isQuestion)).toHaveLength(1);
    expect(existsSync(join(workspace, 'made'))).toBe(true);
  });
});

describe('an unanswered question', () => {
  test('is denied and withdrawn after the permission time-out', async () => {
    const { start, bodies } = await setScene([
      { match: { turn: 0 }, reply: calls('Bash', { command: 'touch made' }) },
      { reply: 'Done.' },
    ]);
    const process = start(DRIVEN, { env: { SKEIN_PERMISSION_TIMEOUT_MS: '100' } });
    process.say(userLine('go'));
    await process.line(isResult);
    const { lines, code } = await end(process);
    expect(code).toBe(0);
    expect(lines.map(({ type }) => type)).toContain('control_cancel_request');
    expect(resultsIn(bodies().at(-1))).toMatchObject([
      { is_error: true, content: expect.stringMatching('No answer came') },
    ]);
  });
});

describe('a control request', () => {
  test('interrupts the run, and the next prompt starts a new run', async () => {
    const { process, say, bodies } = await drive(
      [
        { match: { lastUser: 'second' }, reply: 'Second answer.' },
        { reply: { text: 'word '.repeat(500), chunkBytes: 5, chunkDelayMs: 40 } },
      ],
      ['--include-partial-messages'],
    );
    say(userLine('first'));
    await process.line(({ event }) => event?.type === 'content_block_delta');
    say({ type: 'control_request', request_id: 'r1', request: { subtype: 'interrupt' } });
    const response = await process.line(({ type }) => type === 'control_response');
    expect(response.response).toMatchObject({ subtype: 'success', request_id: 'r1' });
    expect(await resultNumber(process, 1)).toMatchObject({ stop_reason: 'interrupted' });
    say(userLine('second'));
    await resultNumber(process, 2);
    const { code, results } = await end(process);
    expect(code).toBe(0);
    expect(results[1]).toMatchObject({ result: 'Second answer.', stop_reason: 'end_turn' });
    expect(
      bodies()
        .at(-1)
        ?.messages.map(({ role }: Line) => role),
    ).toEqual(['user', 'assistant', 'user']);
  });

  test('to interrupt, followed at once by a prompt, ends the run before the prompt is answered', async () => {
    const { process, say, workspace, bodies } = await drive(
      [
        { match: { lastUser: 'second' }, reply: 'Second answer.' },
        { reply: calls('Bash', { command: 'echo $$ > pid; sleep 60' }) },
      ],
      ['--permission-mode', 'bypassPermissions'],
    );
    say(userLine('first'));
    await eventually('the command runs', () => pidIn(workspace));
    say({ type: 'control_request', request_id: 'r1', request: { subtype: 'interrupt' } });
    say(userLine('second'));
    const { code, results } = await end(process);
    expect(code).toBe(0);
    expect(results).toMatchObject([
      { stop_reason: 'interrupted' },
      { stop_reason: 'end_turn', result: 'Second answer.' },
    ]);
    expect(bodies().at(-1)?.messages.at(-1).content).toMatchObject([
      { type: 'tool_result', is_error: true },
      { type: 'text', text: 'second' },
    ]);
  });

  test('to interrupt does not drop a prompt that was sent before', async () => {
    const { process, say, workspace } = await drive(
      [
        { match: { lastUser: 'second' }, reply: 'Second answer.' },
        { reply: calls('Bash', { command: 'echo $$ > pid; sleep 60' }) },
      ],
      ['--permission-mode', 'bypassPermissions'],
    );
    say(userLine('first'));
    await eventually('the command runs', () => pidIn(workspace));
    say(userLine('second'));
    say({ type: 'control_request', request_id: 'r1', request: { subtype: 'interrupt' } });
    const { code, results } = await end(process);
    expect(code).toBe(0);
    expect(results).toMatchObject([
      { stop_reason: 'interrupted' },
      { stop_reason: 'end_turn', result: 'Second answer.' },
    ]);
  });

  test('to interrupt withdraws the open question', async () => {
    const { process, say } = await drive([{ reply: calls('Bash', { command: 'make' }) }]);
    say(userLine('go'));
    const { request_id } = await process.line(isQuestion);
    say({ type: 'control_request', request_id: 'r1', request: { subtype: 'interrupt' } });
    const { code, lines } = await end(process);
    expect(code).toBe(130);
    expect(lines).toContainEqual({ type: 'control_cancel_request', request_id });
  });

  test('to interrupt ends the wait for a retry, and the next prompt is sent at once', async () => {
    const { process, say, bodies } = await drive([
      { match: { lastUser: 'second' }, reply: 'Second answer.' },
      { reply: { error: { status: 529, retryAfter: 600 } } },
    ]);
    say(userLine('first'));
    await process.line(({ subtype }) => subtype === 'attempt_discarded');
    say({ type: 'control_request', request_id: 'r1', request: { subtype: 'interrupt' } });
    await resultNumber(process, 1);
    say(userLine('second'));
    const { results } = await end(process);
    expect(results[1]).toMatchObject({ result: 'Second answer.' });
    expect(bodies()).toHaveLength(2);
  });

  test('of an unknown kind is answered with an error', async () => {
    const { process, say } = await drive([]);
    say({ type: 'control_request', request_id: 'r1', request: { subtype: 'teleport' } });
    const { lines, code } = await end(process);
    expect(code).toBe(0);
    expect(lines.at(-1)?.response).toMatchObject({ subtype: 'error', request_id: 'r1' });
  });
});

describe('prompts that arrive while a tool runs', () => {
  test('follow the tool results in the next message', async () => {
    const wait: Reply = calls('Bash', { command: 'until [ -e go ]; do sleep 0.05; done' });
    const { process, say, bodies, workspace } = await drive(
      [{ match: { turn: 0 }, reply: wait }, { reply: 'Done.' }],
      ['--permission-mode', 'bypassPermissions'],
    );
    say(userLine('start'));
    await process.line(({ type }) => type === 'assistant');
    say(userLine('and another thing'));
    say(userLine('and a third'));
    say({ type: 'control_request', request_id: 'r1', request: { subtype: 'initialize' } });
    await process.line(({ type }) => type === 'control_response');
    await writeFile(join(workspace, 'go'), '');
    const { results } = await end(process);
    expect(results).toHaveLength(1);
    expect(bodies()).toHaveLength(2);
    expect(bodies()[1]?.messages.at(-1).content).toMatchObject([
      { type: 'tool_result' },
      { type: 'text', text: 'and another thing' },
      { type: 'text', text: 'and a third' },
    ]);
  });
});
