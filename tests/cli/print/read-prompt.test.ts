import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { readPrompt } from '../../../src/cli/print/read-prompt.js';
import { toWireBlocks } from '../../../src/sdk/api/messages/prompt-content.js';
import type { TerminalHost } from '../../../src/terminal/terminal-host.js';

/** Reads a prompt with `piped` on stdin; undefined is a terminal. */
const read = (given: string | undefined, piped: string | Buffer | undefined) => {
  const stream = new PassThrough();
  if (piped !== undefined) stream.end(piped);
  // Descriptor 0 of a test is a pipe or closed, never a terminal.
  const stdin = Object.assign(stream, { isTTY: piped === undefined, fd: 0 });
  const host: Pick<TerminalHost, 'stdin' | 'err'> = {
    stdin: stdin as unknown as TerminalHost['stdin'],
    err: () => {},
  };
  return readPrompt(given, host as TerminalHost);
};

describe('a prompt', () => {
  test.each([
    ['the argument alone at a terminal', 'do it', undefined, 'do it'],
    ['stdin alone', undefined, 'from the pipe\n', 'from the pipe'],
    ['stdin when the argument is blank', ' ', 'piped', 'piped'],
  ])('is %s', async (_, given, piped, prompt) => {
    expect(await read(given, piped)).toBe(prompt);
  });

  test('that is missing is rejected with a hint', async () => {
    await expect(read(undefined, '')).rejects.toThrow(/There is no prompt/);
    await expect(read(undefined, undefined)).rejects.toThrow(/There is no prompt/);
  });

  test('has characters that were split between chunks', async () => {
    const bytes = Buffer.from('🪿'.repeat(20_000));
    expect(await read(undefined, bytes)).toBe('🪿'.repeat(20_000));
  });

  test('of more than 16 MiB on stdin is rejected', async () => {
    await expect(read(undefined, Buffer.alloc(17 * 1024 * 1024, 'x'))).rejects.toThrow(/16 MiB/);
  });

  test('is sent without lone surrogates', () => {
    expect(JSON.parse(toWireBlocks('a\ud83eb'))).toEqual([{ type: 'text', text: 'a\ufffdb' }]);
  });
});
