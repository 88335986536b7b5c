import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
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
import { isAlive } from '../../host/process/processes.js';

const FREE = ['--permission-mode', 'bypassPermissions'];
const PARTIAL = [...STREAM, '--include-partial-messages'];

/** A model that answers the prompt "again" with a short text and every other request with `first`. */
const setSceneWith = (first: Reply) =>
  setScene([{ match: { lastUser: 'again' }, reply: 'Resumed.' }, { reply: first }]);

const isDelta = ({ event }: Line) => event?.type === 'content_block_delta';
const isStop = ({ event }: Line) => event?.type === 'content_block_stop';

/** Streams for longer than a test waits. */
const ENDLESS = { chunkBytes: 5, chunkDelayMs: 40 };
const long = 'word '.repeat(500);

describe('SIGINT during a model response', () => {
  test('keeps the received text, and a resumed session continues from it', async () => {
    const scene = await setSceneWith({ text: long, ...ENDLESS });
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

  test('drops a server tool call without a result', async () => {
    const scene = await setSceneWith({
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
    const blocks = scene.bodies().at(-1)?.messages[1].content as Line[];
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'text']);
  });

  test('answers complete calls as interrupted and drops the incomplete call', async () => {
    const scene = await setSceneWith({
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
      // The previous run had another permission mode.
      { type: 'text', text: expect.stringContaining('The permission mode is now default.') },
    ]);
  });

  test('drops an incomplete thinking block', async () => {
    const scene = await setSceneWith({ thinking: long, ...ENDLESS });
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

  test('keeps a message that ends with a complete thinking block valid for a resume', async () => {
    const scene = await setSceneWith({ thinking: 'Hm.', text: long, ...ENDLESS });
    const process = scene.start(['-p', 'go', ...PARTIAL]);
    process.endInput();
    await process.line(isStop);
    process.kill('SIGINT');
    const { result } = await process.ended;
    const resumed = await scene.run(['-p', 'again', '--resume', result.session_id, ...STREAM]);
    expect(resumed).toMatchObject({ code: 0, result: { result: 'Resumed.' } });
  });
});

describe('SIGINT during a shell command', () => {
  test('kills the command and gives the model an interrupted result', async () => {
    const scene = await setSceneWith(calls('Bash', { command: 'echo $$ > pid && sleep 60' }));
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

describe('SIGINT during the wait for a retry', () => {
  test('ends the run', async () => {
    const scene = await setSceneWith({ error: { status: 429, retryAfter: 600 } });
    const process = scene.start(['-p', 'go', ...STREAM]);
    process.endInput();
    await process.line(({ subtype }) => subtype === 'attempt_discarded');
    process.kill('SIGINT');
    const { code, result } = await process.ended;
    expect({ code, reason: result.stop_reason }).toEqual({ code: 130, reason: 'interrupted' });
  });
});

describe('a second SIGINT', () => {
  test('exits at once, and another process can resume the session', async () => {
    const stubborn = "trap '' INT TERM; echo $$ > pid; sleep 60";
    const scene = await setSceneWith(calls('Bash', { command: stubborn }));
    const process = scene.start(['-p', 'go', ...FREE, ...STREAM]);
    process.endInput();
    const shell = await eventually('the shell runs', () => pidIn(scene.workspace));
    process.kill('SIGINT');
    // A second signal within a short time counts as the same key press.
    await new Promise((resolve) => setTimeout(resolve, 120));
    process.kill('SIGINT');
    expect(await process.ended).toMatchObject({ code: 130 });
    await eventually('the shell is gone', () => !isAlive(shell));
    const resumed = await scene.run(['-p', 'again', '--continue', ...STREAM]);
    expect(resumed).toMatchObject({ code: 0, result: { result: 'Resumed.' } });
  });
});
