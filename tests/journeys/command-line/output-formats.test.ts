import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtinTools } from '../../../src/tools/builtin-tools.js';
import { type Line, STREAM, setScene } from '../../fakes/skein-process.js';

/** A workspace with a file, and a model that makes two Read calls per turn before it answers. */
const setReadingScene = async (turns: number) => {
  const tool_use = [
    { name: 'Read', input: { file_path: 'notes.txt' } },
    { name: 'Read', input: { file_path: 'absent-{{turn}}.txt' } },
  ];
  const scene = await setScene([
    { match: { turn: { min: turns } }, reply: { thinking: 'Enough.', text: 'Read it all.' } },
    { reply: { text: 'Reading, turn {{turn}}.', tool_use } },
  ]);
  await writeFile(join(scene.workspace, 'notes.txt'), 'a note\n');
  return scene;
};

const typesOf = (lines: readonly Line[]) => lines.map(({ type }) => type as string);

describe('the output format stream-json', () => {
  test('prints fifty turns with tool calls line by line, in order', async () => {
    const { run } = await setReadingScene(50);
    const { code, lines, stderr } = await run(['-p', 'read', ...STREAM]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const pairs = Array.from({ length: 50 }, () => ['assistant', 'user']).flat();
    expect(typesOf(lines)).toEqual(['system', ...pairs, 'assistant', 'result']);
    expect(new Set(lines.map(({ session_id }) => session_id))).toEqual(
      new Set([lines[0]?.session_id]),
    );
    expect(lines.at(-1)).toMatchObject({ subtype: 'success', num_turns: 51 });
  });

  test('prints a line per message with all its blocks, and the results in call order', async () => {
    const { run, bodies } = await setReadingScene(1);
    const { lines } = await run(['-p', 'read', ...STREAM]);
    const [, first, results, last] = lines;
    expect(first?.message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-5-5',
      stop_reason: 'tool_use',
      content: [{ type: 'text' }, { type: 'tool_use' }, { type: 'tool_use' }],
    });
    const ids = first?.message.content.slice(1).map(({ id }: Line) => id);
    expect(results?.message.content.map((block: Line) => block.tool_use_id)).toEqual(ids);
    expect(results?.message.content).toMatchObject([
      { type: 'tool_result', content: expect.stringContaining('a note') },
      { type: 'tool_result', is_error: true },
    ]);
    expect(last?.message.content).toMatchObject([
      { type: 'thinking', signature: expect.stringMatching(/./) },
      { type: 'text', text: 'Read it all.' },
    ]);
    const sent = bodies().at(-1)?.messages;
    expect(sent[1].content).toEqual(first?.message.content);
    expect(sent[2].content.map(({ content }: Line) => content)).toEqual(
      results?.message.content.map(({ content }: Line) => content),
    );
  });

  test('starts with the folder, model, tools, agents and mode of the run', async () => {
    const { run, workspace } = await setScene();
    const { lines } = await run(['-p', 'hi', ...STREAM, '--permission-mode', 'plan']);
    expect(lines[0]).toMatchObject({
      type: 'system',
      subtype: 'init',
      cwd: workspace,
      model: 'claude-sonnet-5-5',
      tools: builtinTools.map(({ name }) => name),
      mcp_servers: [],
      agents: ['explorer', 'implementer', 'planner', 'reviewer', 'tester'],
      permissionMode: 'plan',
    });
  });

  test('keeps Unicode line separators inside of a line', async () => {
    const text = 'one\u2028two\r\nthree\u0085four';
    const { run } = await setScene([{ reply: text }]);
    const { result } = await run(['-p', 'hi', ...STREAM]);
    expect(result.result).toBe(text);
  });

  test('prints partial messages whose deltas add up to the message', async () => {
    const { run } = await setReadingScene(1);
    const { lines } = await run(['-p', 'read', ...STREAM, '--include-partial-messages']);
    const events = lines.filter(({ type }) => type === 'stream_event').map(({ event }) => event);
    const texts: string[] = [];
    const inputs: string[] = [];
    for (const { type, delta } of events) {
      if (type === 'message_start') texts.push('');
      if (delta?.type === 'text_delta') texts.push(`${texts.pop()}${delta.text}`);
      if (type === 'content_block_start') inputs.push('');
      if (delta?.type === 'input_json_delta') {
        inputs.push(`${inputs.pop()}${delta.partial_json}`);
      }
    }
    expect(texts).toEqual(['Reading, turn 0.', 'Read it all.']);
    expect(inputs.filter(Boolean).map((json) => JSON.parse(json).file_path)).toEqual([
      'notes.txt',
      'absent-0.txt',
    ]);
    const order = typesOf(lines).filter((type, index, all) => type !== all[index - 1]);
    expect(order).toEqual([
      'system',
      'stream_event',
      'assistant',
      'user',
      'stream_event',
      'assistant',
      'result',
    ]);
  });
});

describe('the output format json', () => {
  test('prints only the result, with all its fields', async () => {
    const { run, simulator } = await setReadingScene(2);
    const { code, stdout, stderr } = await run(['-p', 'read', '--output-format', 'json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { usage, cost } = simulator.totals;
    const result = JSON.parse(stdout) as Line;
    expect(result).toEqual({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: 'Read it all.',
      stop_reason: 'end_turn',
      num_turns: 3,
      duration_ms: expect.any(Number),
      duration_api_ms: expect.any(Number),
      total_cost_usd: expect.closeTo(cost ?? -1, 10),
      usage: {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_input_tokens: usage.cacheRead,
        cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
        cache_creation: {
          ephemeral_5m_input_tokens: usage.cacheWrite5m,
          ephemeral_1h_input_tokens: usage.cacheWrite1h,
        },
      },
      modelUsage: {
        'claude-sonnet-5-5': {
          inputTokens: usage.input,
          outputTokens: usage.output,
          cacheReadInputTokens: usage.cacheRead,
          cacheCreationInputTokens: usage.cacheWrite5m + usage.cacheWrite1h,
          costUSD: result.total_cost_usd,
        },
      },
      permission_denials: [],
      session_id: expect.stringMatching(/^s_/),
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(result.duration_api_ms).toBeLessThanOrEqual(result.duration_ms);
  });

  test('has a null cost if the price of the model is unknown', async () => {
    const { run } = await setScene();
    const { code, result } = await run([
      '-p',
      'hi',
      '--output-format',
      'json',
      '--model',
      'somebody-elses-model',
    ]);
    expect({ code, cost: result.total_cost_usd }).toEqual({ code: 0, cost: null });
    expect(result.modelUsage['somebody-elses-model'].costUSD).toBeNull();
  });
});

describe('the output format text', () => {
  test('prints only the answer', async () => {
    const { run } = await setReadingScene(1);
    expect(await run(['-p', 'read'])).toMatchObject({
      code: 0,
      stdout: 'Read it all.\n',
      stderr: '',
    });
  });

  test('prints denied calls and the stop reason to stderr', async () => {
    const { run } = await setScene([
      { reply: { text: 'I will write.', tool_use: { name: 'Bash', input: { command: 'make' } } } },
    ]);
    const { code, stdout, stderr } = await run(['-p', 'go', '--max-turns', '1']);
    expect({ code, stdout }).toEqual({ code: 3, stdout: 'I will write.\n' });
    expect(stderr).toMatch(/^skein: Bash was not run: .+\nskein: stopped \(max_turns\): .+\n$/);
  });
});

describe('a reader that closes the pipe early', () => {
  test('does not make the run fail', async () => {
    const { run, bodies } = await setReadingScene(3);
    const through = ['bash', '-c', 'set -o pipefail; "$0" "$@" | head -n 1'] as const;
    const { code, stderr, lines } = await run(['-p', 'read', ...STREAM], { through: [...through] });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(typesOf(lines)).toEqual(['system']);
    expect(bodies()).toHaveLength(4);
  });
});

describe('a format flag', () => {
  test.each([
    [['--output-format', 'xml'], /xml/],
    [['--input-format', 'stream-json'], /--output-format stream-json/],
    [['--include-partial-messages'], /--output-format stream-json/],
  ])('with an invalid value or combination is refused: %s', async (flags, sentence) => {
    const { run } = await setScene();
    const { code, stdout, stderr } = await run(['-p', 'hi', ...flags]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
  });
});
