import { describe, expect, test } from 'vitest';
import {
  calls,
  type Line,
  pidIn,
  type Reply,
  resultsIn,
  STREAM,
  setScene,
  unmarked,
} from '../../fakes/skein-process.js';
import { eventually, isAlive } from '../../host/process/processes.js';

const FREE = ['--permission-mode', 'bypassPermissions'];
const PARTIAL = [...STREAM, '--include-partial-messages'];

/** The first request is answered by `first`, every later one with a short text. */
const sceneOf = (first: Reply) =>
  setScene([{ match: { lastUser: 'again' }, reply: 'Resumed.' }, { reply: first }]);

const isDelta = ({ event }: Line) => event?.type === 'content_block_delta';
const isStop = ({ event }: Line) => event?.type === 'content_block_stop';

/** Talks for far longer than a test would wait. */
const ENDLESS = { chunkBytes: 5, chunkDelayMs: 40 };
const long = 'word '.repeat(500);

describe('Ctrl-C while the model speaks', () => {
  test('keeps what was said, and the session goes on from there', async () => {
    const scene = await sceneOf({ text: long, ...ENDLESS });
    const process = scene.start(['-p', 'go', ...PARTIAL]);
    process.endInput();
    await process.line(isDelta);
    process.kill('SIGINT');
    const { code, result, lines } = await process.ended;
    expect(code).toBe(130);
    expect(result).toMatchObject({
      type: 'result',
      subtype: 'error_during_execution',
      stop_reason: 'interrupted',
      is_error: true,
    });
    const kept = lines.find(({ type }) => type === 'assistant')?.message.content;
    expect(kept).toEqual([{ type: 'text', text: expect.stringMatching(/^word /) }]);

    const resumed = await scene.run(['-p', 'again', '--resume', result.session_id, ...STREAM]);
    expect(resumed).toMatchObject({ code: 0, result: { result: 'Resumed.' } });
    expect(scene.bodies().at(-1)?.messages).toMatchObject([
      {
        role: 'user',
        content: [{ text: expect.stringMatching(/^<system-reminder>/) }, { text: 'go' }],
      },
      { role: 'assistant', content: kept },
      { role: 'user', content: [{ text: 'again' }] },
    ]);
  });

  test('drops a call of the server whose result has not come', async () => {
    const scene = await sceneOf({
      blocks: [
        { type: 'text', text: 'I search.' },
        { type: 'server_tool_use', name: 'web_search', input: { query: 'geese' } },
        { type: 'text', text: long },
      ],
      ...ENDLESS,
    });
    const process = scene.start(['-p', 'go', ...PARTIAL]);
    process.endInput();
    await process.line(({ event }) => event?.type === 'content_block_delta' && event.index === 2);
    process.kill('SIGINT');
    const { result } = await process.ended;
    await scene.run(['-p', 'again', '--resume', result.session_id]);
    const said = scene.bodies().at(-1)?.messages[1].content as Line[];
    expect(said.map(({ type }) => type)).toEqual(['text', 'text']);
  });

  test('answers whole calls as interrupted and drops the one that was unfinished', async () => {
    const scene = await sceneOf({
      tool_use: [
        { name: 'Bash', input: { command: 'touch never' } },
        { name: 'Write', input: { file_path: 'never', content: long } },
      ],
      ...ENDLESS,
    });
    const process = scene.start(['-p', 'go', ...FREE, ...PARTIAL]);
    process.endInput();
    await process.line(isStop);
    process.kill('SIGINT');
    const { code, result } = await process.ended;
    expect(code).toBe(130);

    const resumed = await scene.run(['-p', 'again', '--resume', result.session_id, ...STREAM]);
    expect(resumed).toMatchObject({ code: 0, result: { result: 'Resumed.' } });
    const [, assistant, user] = scene.bodies().at(-1)?.messages ?? [];
    expect(assistant.content).toMatchObject([{ type: 'tool_use', name: 'Bash' }]);
    expect(user.content).toMatchObject([
      { type: 'tool_result', is_error: true, content: expect.stringMatching(/^Interrupted/) },
      { type: 'text', text: 'again' },
      // The run before was allowed more than this one.
      { type: 'text', text: expect.stringContaining('The permission mode is now default.') },
    ]);
  });

  test('drops unfinished thinking', async () => {
    const scene = await sceneOf({ thinking: long, ...ENDLESS });
    const process = scene.start(['-p', 'go', ...PARTIAL]);
    process.endInput();
    await process.line(isDelta);
    process.kill('SIGINT');
    const { code, result } = await process.ended;
    expect(code).toBe(130);
    const resumed = await scene.run(['-p', 'again', '--resume', result.session_id, ...STREAM]);
    expect(resumed).toMatchObject({ code: 0, result: { result: 'Resumed.' } });
    const [first, last] = scene.bodies();
    expect(JSON.stringify(last?.messages)).not.toContain('thinking');
    expect(unmarked(last)).toContain(unmarked(first).slice(0, -2));
  });

  test('closes a message that ends with whole thinking', async () => {
    const scene = await sceneOf({ thinking: 'Hm.', text: long, ...ENDLESS });
    const process = scene.start(['-p', 'go', ...PARTIAL]);
    process.endInput();
    await process.line(isStop);
    process.kill('SIGINT');
    const { result } = await process.ended;
    const resumed = await scene.run(['-p', 'again', '--resume', result.session_id, ...STREAM]);
    expect(resumed).toMatchObject({ code: 0, result: { result: 'Resumed.' } });
  });
});

describe('Ctrl-C while a command runs', () => {
  test('ends the command and says so to the model', async () => {
    const scene = await sceneOf(calls('Bash', { command: 'echo $$ > pid && sleep 60' }));
    const process = scene.start(['-p', 'go', ...FREE, ...STREAM]);
    process.endInput();
    const shell = await eventually('the shell runs', () => pidIn(scene.workspace));
    process.kill('SIGINT');
    const { code, lines, result } = await process.ended;
    expect({ code, reason: result.stop_reason }).toEqual({ code: 130, reason: 'interrupted' });
    await eventually('the shell is gone', () => !isAlive(shell));
    const answered = lines.find(({ type }) => type === 'user');
    expect(answered?.message.content).toMatchObject([
      { type: 'tool_result', is_error: true, content: expect.stringMatching(/^Interrupted/) },
    ]);

    const resumed = await scene.run(['-p', 'again', '--resume', result.session_id, ...STREAM]);
    expect(resumed).toMatchObject({ code: 0, result: { result: 'Resumed.' } });
    expect(resultsIn(scene.bodies().at(-1))).toMatchObject(answered?.message.content);
  });
});

describe('Ctrl-C before another attempt', () => {
  test('ends the wait', async () => {
    const scene = await sceneOf({ error: { status: 429, retryAfter: 600 } });
    const process = scene.start(['-p', 'go', ...STREAM]);
    process.endInput();
    await process.line(({ subtype }) => subtype === 'attempt_discarded');
    process.kill('SIGINT');
    const { code, result } = await process.ended;
    expect({ code, reason: result.stop_reason }).toEqual({ code: 130, reason: 'interrupted' });
  });
});

describe('a second Ctrl-C', () => {
  test('quits at once, and the session is free for the next', async () => {
    const stubborn = "trap '' INT TERM; echo $$ > pid; sleep 60";
    const scene = await sceneOf(calls('Bash', { command: stubborn }));
    const process = scene.start(['-p', 'go', ...FREE, ...STREAM]);
    process.endInput();
    const shell = await eventually('the shell runs', () => pidIn(scene.workspace));
    process.kill('SIGINT');
    // The key counts as pressed again after a moment only.
    await new Promise((resolve) => setTimeout(resolve, 120));
    process.kill('SIGINT');
    expect(await process.ended).toMatchObject({ code: 130 });
    await eventually('the shell is gone', () => !isAlive(shell));
    const resumed = await scene.run(['-p', 'again', '--continue', ...STREAM]);
    expect(resumed).toMatchObject({ code: 0, result: { result: 'Resumed.' } });
  });
});
