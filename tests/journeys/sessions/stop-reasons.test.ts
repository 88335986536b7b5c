import { describe, expect, test } from 'vitest';
import {
  calls,
  DRIVEN,
  type Rules,
  type RunOptions,
  STREAM,
  setScene,
  userLine,
} from '../../fakes/skein-process.js';

/** Runs a prompt and returns its exit code, its result and its stderr. */
const runToEnd = async (rules: Rules, flags: readonly string[] = [], options: RunOptions = {}) => {
  const { run, simulator } = await setScene(rules);
  const { code, result, stderr } = await run(['-p', 'go', ...STREAM, ...flags], options);
  const { type, subtype, is_error, stop_reason } = result;
  expect(type).toBe('result');
  return { code, subtype, is_error, stop_reason, result, stderr, simulator };
};

const failing = (error: Record<string, unknown>): Rules => [
  { reply: { error: { status: 400, ...error } } },
];
const once = { env: { SKEIN_MAX_RETRIES: '1' } };
const never = { env: { SKEIN_MAX_RETRIES: '0' } };

describe('a run stops with', () => {
  test('end_turn: the model answers without calls', async () => {
    expect(await runToEnd([{ reply: 'Done.' }])).toMatchObject({
      code: 0,
      subtype: 'success',
      is_error: false,
      stop_reason: 'end_turn',
      result: { result: 'Done.' },
    });
  });

  test('max_turns: the turn limit is reached', async () => {
    const read = calls('Read', { file_path: 'x' });
    const { result, simulator, ...end } = await runToEnd([{ reply: read }], ['--max-turns', '2']);
    expect(end).toMatchObject({
      code: 3,
      subtype: 'error_max_turns',
      is_error: true,
      stop_reason: 'max_turns',
    });
    expect([result.num_turns, simulator.requests.length]).toEqual([2, 2]);
  });

  test('end_turn: the model finishes in its last allowed turn', async () => {
    const rules = [{ match: { turn: 0 }, reply: calls('Read', { file_path: 'x' }) }];
    const end = await runToEnd([...rules, { reply: 'Done.' }], ['--max-turns', '2']);
    expect(end).toMatchObject({ code: 0, stop_reason: 'end_turn' });
  });

  test('end_turn: the answer is empty', async () => {
    const end = await runToEnd([{ reply: { blocks: [] } }]);
    expect(end).toMatchObject({ code: 0, stop_reason: 'end_turn', result: { result: '' } });
  });

  test('max_turns: a limit of zero sends no request', async () => {
    const end = await runToEnd([], ['--max-turns', '0']);
    expect(end).toMatchObject({ code: 3, stop_reason: 'max_turns' });
    expect(end.simulator.requests).toEqual([]);
  });

  test('budget: the next request would exceed the budget', async () => {
    const usage = { output_tokens: 5_000 };
    const read = { ...calls('Read', { file_path: 'x' }), text: 'Half of it.', usage };
    const end = await runToEnd([{ reply: read }], ['--max-budget-usd', '0.05']);
    expect(end).toMatchObject({
      code: 3,
      subtype: 'error_max_budget_usd',
      stop_reason: 'budget',
      result: { num_turns: 1, result: expect.stringContaining('$0.05') },
    });
    expect(end.result.partial_result).toBe('Half of it.');
    expect(end.simulator.requests).toHaveLength(1);
  });

  test('budget: a budget of zero sends no request', async () => {
    const end = await runToEnd([], ['--max-budget-usd', '0']);
    expect(end).toMatchObject({ code: 3, stop_reason: 'budget', result: { num_turns: 0 } });
    expect(end.simulator.requests).toEqual([]);
  });

  test('refusal: the model declines', async () => {
    expect(await runToEnd([{ reply: { text: 'I', stop_reason: 'refusal' } }])).toMatchObject({
      code: 1,
      subtype: 'error_during_execution',
      is_error: true,
      stop_reason: 'refusal',
    });
  });

  test('model_error: the API rejects the request, which is not retried', async () => {
    const end = await runToEnd(failing({ message: 'tools.0: nonsense' }));
    expect(end).toMatchObject({
      code: 1,
      subtype: 'error_during_execution',
      stop_reason: 'model_error',
      result: { result: expect.stringMatching(/HTTP 400.*tools\.0: nonsense/) },
    });
    expect(end.simulator.requests).toHaveLength(1);
  });

  test('model_error: the API key is refused, and the message names its variable', async () => {
    const end = await runToEnd(failing({ status: 401, message: 'invalid x-api-key' }));
    expect(end).toMatchObject({
      code: 1,
      stop_reason: 'model_error',
      result: { result: expect.stringContaining('ANTHROPIC_API_KEY') },
    });
    expect(end.simulator.requests).toHaveLength(1);
  });

  test('model_error: the server still fails after the last retry', async () => {
    const down = failing({ status: 500, retryAfter: 0 });
    const [first, second] = await Promise.all([
      runToEnd(down, [], never),
      runToEnd(down, [], once),
    ]);
    expect([first?.stop_reason, second?.stop_reason]).toEqual(['model_error', 'model_error']);
    expect([first?.code, second?.code]).toEqual([1, 1]);
    expect(first?.simulator.requests).toHaveLength(1);
    expect(second?.simulator.requests).toHaveLength(2);
  });

  test('model_error: no server listens at the local address, after three attempts', async () => {
    const { run, simulator } = await setScene();
    await simulator.close();
    const { code, result, lines } = await run(['-p', 'go', ...STREAM]);
    expect(code).toBe(1);
    expect(result).toMatchObject({
      stop_reason: 'model_error',
      result: expect.stringMatching(
        /could not be reached: .*check ANTHROPIC_BASE_URL and the proxy\.$/,
      ),
    });
    const texts = lines.flatMap(({ subtype, text }) => (subtype === 'notice' ? [text] : []));
    expect(texts).toEqual([
      expect.stringMatching(
        /^Attempt 2 of 3 starts in 1 s\. .*check ANTHROPIC_BASE_URL and the proxy\.$/,
      ),
      expect.stringMatching(
        /^Attempt 3 of 3 starts in 1 s\. .*check ANTHROPIC_BASE_URL and the proxy\.$/,
      ),
    ]);
  });

  test('model_error: the retries of a sub-agent are shown on stderr and in its log', async () => {
    const task = { description: 'Look', prompt: 'part-down', subagent_type: 'explorer' };
    const { run } = await setScene([
      { match: { firstUser: 'part-down' }, reply: { error: { status: 529 } } },
      { match: { turn: 0 }, reply: calls('Task', task) },
      { reply: 'Done.' },
    ]);
    const env = { SKEIN_MAX_RETRIES: '1' };
    const { stdout, stderr } = await run(['-p', 'go', '--session-id', 's'], { env });
    expect(stdout).toBe('Done.\n');
    expect(stderr).toMatch(/explorer a_\w+: Attempt 2 of 2 starts in 1 s\. .*\(HTTP 529\)/);
    expect((await run(['logs', 's'])).stdout).toMatch(/attempt 2 of 2 starts in /);
  });

  test('model_error: the output limit cuts every answer', async () => {
    const end = await runToEnd([{ reply: { text: 'and', stop_reason: 'max_tokens' } }]);
    expect(end).toMatchObject({
      code: 1,
      stop_reason: 'model_error',
      result: { result: expect.stringContaining('maxOutputTokens') },
    });
  });

  test('repeated_tool_failure: every call of several turns in a row was refused', async () => {
    const end = await runToEnd([{ reply: calls('Teleport', { place: 'absent-{{turn}}' }) }]);
    expect(end).toMatchObject({
      code: 1,
      stop_reason: 'repeated_tool_failure',
      result: { num_turns: 15 },
    });
  });

  test('compaction_failed: the prompt is too long and has no messages to drop', async () => {
    const message = 'prompt is too long: 250000 tokens > 200000 maximum';
    const end = await runToEnd(failing({ message }));
    expect(end).toMatchObject({
      code: 1,
      subtype: 'error_during_execution',
      stop_reason: 'compaction_failed',
      result: { result: expect.stringMatching(/./) },
    });
  });

  test('compaction_failed: the prompt is still too long after three compactions', async () => {
    const message = 'prompt is too long: 200010 tokens > 200000 maximum';
    const works = Array.from({ length: 9 }, (_, at) => calls('Bash', { command: `true ${at}` }));
    const replies = [...works, { error: { status: 400, message } }];
    const end = await runToEnd([{ replies }], ['--allowed-tools', 'Bash']);
    expect(end).toMatchObject({ code: 1, stop_reason: 'compaction_failed' });
    expect(end.simulator.requests).toHaveLength(9 + 4 + 3);
  });

  test('denied: a person denies a call and interrupts the run', async () => {
    const { start } = await setScene([{ reply: calls('Bash', { command: 'rm -rf x' }) }]);
    const process = start(DRIVEN);
    process.say(userLine('go'));
    const { request_id } = await process.line(({ type }) => type === 'control_request');
    const response = { behavior: 'deny', message: 'Stop here.', interrupt: true };
    process.say({
      type: 'control_response',
      response: { subtype: 'success', request_id, response },
    });
    process.endInput();
    const { code, result } = await process.ended;
    expect(code).toBe(1);
    expect(result).toMatchObject({
      type: 'result',
      stop_reason: 'denied',
      result: 'Stop here.',
      permission_denials: [{ tool_name: 'Bash', reason: 'Stop here.' }],
    });
  });
});
