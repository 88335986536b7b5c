import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Reply, resultsIn, type Scene, STREAM, setScene } from '../../fakes/skein-process.js';

const FREE = ['--permission-mode', 'bypassPermissions'];

/** The first message has a call and then slow text; the second message ends the run. */
const setSceneWith = async (
  call: { name: string; input: object },
  failure: Partial<Reply> = {},
) => {
  const blocks = [
    { type: 'tool_use', ...call },
    { type: 'text', text: 'and while that runs I go on talking for a while' },
  ] as NonNullable<Reply['blocks']>;
  const slow: Reply = { blocks, chunkBytes: 8, chunkDelayMs: 60, stop_reason: 'tool_use' };
  const scene = await setScene([
    {
      match: { turn: 0 },
      replies: [
        { ...slow, ...failure },
        { ...slow, chunkDelayMs: 0 },
      ],
    },
    { reply: 'Done.' },
  ]);
  await writeFile(join(scene.workspace, 'notes.txt'), 'a note\n');
  return scene;
};

const read = { name: 'Read', input: { file_path: 'notes.txt' } };
const write = { name: 'Write', input: { file_path: 'made.txt', content: 'made\n' } };
const command = { name: 'Bash', input: { command: 'touch made.txt' } };

/** Types of the first journal records about calls and messages, in order. */
const orderOf = async ({ journal }: Scene) =>
  (await journal())
    .filter(({ type }) => /^(call\.started|call\.ended|assistant\.received)$/.test(type))
    .map(({ type }) => type)
    .slice(0, 3);

/** Number of stream events after which the call is complete and the text is not. */
const AFTER_CALL = { afterEvents: 12 };

describe('during the stream of a message', () => {
  test('a read-only call starts and ends', async () => {
    const scene = await setSceneWith(read);
    await scene.run(['-p', 'go', ...STREAM]);
    expect(await orderOf(scene)).toEqual(['call.started', 'call.ended', 'assistant.received']);
  });

  test.each([
    ['writes', write],
    ['runs a command', command],
  ])('a call that %s waits for the message to end', async (_, call) => {
    const scene = await setSceneWith(call);
    await scene.run(['-p', 'go', ...FREE, ...STREAM]);
    expect(await orderOf(scene)).toEqual(['assistant.received', 'call.started', 'call.ended']);
    expect(existsSync(join(scene.workspace, 'made.txt'))).toBe(true);
  });
});

describe('a stream that breaks after a complete call', () => {
  test.each([
    ['write', write],
    ['command', command],
  ])('does not run that %s', async (_, call) => {
    const { run, workspace, bodies } = await setSceneWith(call, { cut: AFTER_CALL });
    const flags = [...FREE, ...STREAM];
    const { code } = await run(['-p', 'go', ...flags], { env: { SKEIN_MAX_RETRIES: '0' } });
    expect({ code, requests: bodies().length }).toEqual({ code: 1, requests: 1 });
    expect(existsSync(join(workspace, 'made.txt'))).toBe(false);
  });

  test('sends a single result for that call after a retry', async () => {
    const scene = await setSceneWith(read, { cut: AFTER_CALL });
    const { code, lines } = await scene.run(['-p', 'go', ...STREAM]);
    expect(code).toBe(0);
    expect(lines.map(({ type, subtype }) => subtype ?? type)).toEqual([
      'init',
      'attempt_discarded',
      'notice',
      'assistant',
      'user',
      'assistant',
      'success',
    ]);
    const results = resultsIn(scene.bodies().at(-1));
    expect(results).toMatchObject([{ content: expect.stringContaining('a note') }]);
    const ended = (await scene.journal()).filter(({ type }) => type === 'call.started');
    expect(ended.map((record) => 'attempt' in record && record.attempt)).toEqual([1, 2]);
  });

  test('runs that command once after a retry', async () => {
    const append = { name: 'Bash', input: { command: 'echo once >> made.txt' } };
    const { run, workspace } = await setSceneWith(append, { cut: AFTER_CALL });
    expect(await run(['-p', 'go', ...FREE])).toMatchObject({ code: 0 });
    expect(await readFile(join(workspace, 'made.txt'), 'utf8')).toBe('once\n');
  });
});

describe('several calls of a message', () => {
  test('are answered in call order, not in the order in which they end', async () => {
    const slowly = { name: 'Bash', input: { command: 'sleep 0.3 && echo slow' } };
    const { run, bodies, workspace } = await setScene([
      { match: { turn: 0 }, reply: { tool_use: [slowly, read, read, command] } },
      { reply: 'Done.' },
    ]);
    await writeFile(join(workspace, 'notes.txt'), 'a note\n');
    await run(['-p', 'go', ...FREE]);
    expect(resultsIn(bodies().at(-1)).map(({ content }) => content)).toEqual([
      expect.stringContaining('slow'),
      expect.stringContaining('a note'),
      expect.stringContaining('a note'),
      '(no output)',
    ]);
  });
});
