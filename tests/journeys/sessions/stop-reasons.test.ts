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

/** How a run ends: in the result, for people, and for scripts. */
const endOf = async (rules: Rules, flags: readonly string[] = [], options: RunOptions = {}) => {
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

describe('a run stops because of', () => {
  test('end_turn: the model has nothing more to do', async () => {
    expect(await endOf([{ reply: 'Done.' }])).toMatchObject({
      code: 0,
      subtype: 'success',
      is_error: false,
      stop_reason: 'end_turn',
      result: { result: 'Done.' },
    });
  });

  test('max_turns: the limit that was given', async () => {
    const read = calls('Read', { file_path: 'x' });
    const { result, simulator, ...end } = await endOf([{ reply: read }], ['--max-turns', '2']);
    expect(end).toMatchObject({
      code: 3,
      subtype: 'error_max_turns',
      is_error: true,
      stop_reason: 'max_turns',
    });
    expect([result.num_turns, simulator.requests.length]).toEqual([2, 2]);
  });

  test('end_turn: the last turn that it may have is enough', async () => {
    const rules = [{ match: { turn: 0 }, reply: calls('Read', { file_path: 'x' }) }];
    const end = await endOf([...rules, { reply: 'Done.' }], ['--max-turns', '2']);
    expect(end).toMatchObject({ code: 0, stop_reason: 'end_turn' });
  });

  test('end_turn: the model has nothing to say at all', async () => {
    const end = await endOf([{ reply: { blocks: [] } }]);
    expect(end).toMatchObject({ code: 0, stop_reason: 'end_turn', result: { result: '' } });
  });

  test('max_turns: zero is none at all', async () => {
    const end = await endOf([], ['--max-turns', '0']);
    expect(end).toMatchObject({ code: 3, stop_reason: 'max_turns' });
    expect(end.simulator.requests).toEqual([]);
  });

  test('budget: the next request would cost more than is left', async () => {
    const usage = { output_tokens: 5_000 };
    const read = { ...calls('Read', { file_path: 'x' }), text: 'Half of it.', usage };
    const end = await endOf([{ reply: read }], ['--max-budget-usd', '0.05']);
    expect(end).toMatchObject({
      code: 3,
      subtype: 'error_max_budget_usd',
      stop_reason: 'budget',
      result: { num_turns: 1, result: expect.stringContaining('$0.05') },
    });
    expect(end.result.partial_result).toBe('Half of it.');
    expect(end.simulator.requests).toHaveLength(1);
  });

  test('budget: zero is none at all', async () => {
    const end = await endOf([], ['--max-budget-usd', '0']);
    expect(end).toMatchObject({ code: 3, stop_reason: 'budget', result: { num_turns: 0 } });
    expect(end.simulator.requests).toEqual([]);
  });

  test('refusal: the model declines', async () => {
    expect(await endOf([{ reply: { text: 'I', stop_reason: 'refusal' } }])).toMatchObject({
      code: 1,
      subtype: 'error_during_execution',
      is_error: true,
      stop_reason: 'refusal',
    });
  });

  test('model_error: the API rejects the request, which no retry would change', async () => {
    const end = await endOf(failing({ message: 'tools.0: nonsense' }));
    expect(end).toMatchObject({
      code: 1,
      subtype: 'error_during_execution',
      stop_reason: 'model_error',
      result: { result: expect.stringMatching(/HTTP 400.*tools\.0: nonsense/) },
    });
    expect(end.simulator.requests).toHaveLength(1);
  });

  test('model_error: the key is refused, and the sentence says what to check', async () => {
    const end = await endOf(failing({ status: 401, message: 'invalid x-api-key' }));
    expect(end).toMatchObject({
      code: 1,
      stop_reason: 'model_error',
      result: { result: expect.stringContaining('ANTHROPIC_API_KEY') },
    });
    expect(end.simulator.requests).toHaveLength(1);
  });

  test('model_error: the model stays down for longer than it may be retried', async () => {
    const down = failing({ status: 500, retryAfter: 0 });
    const [first, second] = await Promise.all([endOf(down, [], never), endOf(down, [], once)]);
    expect([first?.stop_reason, second?.stop_reason]).toEqual(['model_error', 'model_error']);
    expect([first?.code, second?.code]).toEqual([1, 1]);
    expect(first?.simulator.requests).toHaveLength(1);
    expect(second?.simulator.requests).toHaveLength(2);
  });

  test('model_error: nobody listens where the model should be', async () => {
    const { run, simulator } = await setScene();
    await simulator.close();
    const { code, result } = await run(['-p', 'go', ...STREAM], never);
    expect(code).toBe(1);
    expect(result).toMatchObject({
      stop_reason: 'model_error',
      result: expect.stringContaining('could not be reached'),
    });
  });

  test('model_error: the output limit cuts the answer again and again', async () => {
    const end = await endOf([{ reply: { text: 'and', stop_reason: 'max_tokens' } }]);
    expect(end).toMatchObject({
      code: 1,
      stop_reason: 'model_error',
      result: { result: expect.stringContaining('maxOutputTokens') },
    });
  });

  test('repeated_tool_failure: every call of several turns in a row failed', async () => {
    const end = await endOf([{ reply: calls('Read', { file_path: 'absent-{{turn}}' }) }]);
    expect(end).toMatchObject({
      code: 1,
      stop_reason: 'repeated_tool_failure',
      result: { num_turns: 5 },
    });
  });

  test('compaction_failed: the prompt stays too long when nothing is left to drop', async () => {
    const message = 'prompt is too long: 250000 tokens > 200000 maximum';
    const end = await endOf(failing({ message }));
    expect(end).toMatchObject({
      code: 1,
      subtype: 'error_during_execution',
      stop_reason: 'compaction_failed',
      result: { result: expect.stringMatching(/./) },
    });
  });

  test('compaction_failed: three tries make room, by summary or without, and none is enough', async () => {
    const message = 'prompt is too long: 200010 tokens > 200000 maximum';
    const works = Array.from({ length: 9 }, (_, at) => calls('Bash', { command: `true ${at}` }));
    const replies = [...works, { error: { status: 400, message } }];
    const end = await endOf([{ replies }], ['--allowed-tools', 'Bash']);
    expect(end).toMatchObject({ code: 1, stop_reason: 'compaction_failed' });
    expect(end.simulator.requests).toHaveLength(9 + 4 + 3);
  });

  test('denied: a person refuses a call and wants the run to end with it', async () => {
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
