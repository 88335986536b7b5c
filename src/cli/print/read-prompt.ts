/** Reads the prompt of a print run from the arguments, from stdin, or from both. */
import { UsageError } from '../../protocol/skein-error.js';
import { isPipeOrFile } from '../../terminal/input/is-pipe-or-file.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';

/** Maximum bytes of stdin, more than the context window of any model. */
const MAX_STDIN_BYTES = 16 * 1024 * 1024;
/** Time to wait for stdin if the arguments contain a prompt, in milliseconds. */
const STDIN_TIMEOUT_MS = 3_000;

const NO_PROMPT = 'There is no prompt: give one, as in skein -p "…", or pipe one in.';

/** Rejects with UsageError and the message `emptyMessage` if there is no prompt. */
export const readPrompt = async (
  argument: string | undefined,
  host: TerminalHost,
  emptyMessage = NO_PROMPT,
): Promise<string> => {
  const hasPrompt = argument !== undefined;
  const isNeedless = hasPrompt && host.hasPipedInput?.() === false;
  const piped =
    isNeedless || host.stdin.isTTY ? '' : await readPiped(host.stdin, hasPrompt, host.err);
  const prompt = [argument ?? '', piped].map((text) => text.trim()).filter((text) => text !== '');
  if (prompt.length === 0) throw new UsageError(emptyMessage);
  return prompt.join('\n\n');
};

const readPiped = async (
  stdin: TerminalHost['stdin'],
  hasPrompt: boolean,
  err: TerminalHost['err'],
): Promise<string> => {
  if (hasPrompt && !isPipeOrFile(stdin.fd)) return '';
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = hasPrompt
    ? setTimeout(() => {
        err('skein: No input from stdin for 3 seconds; continuing without it.\n');
        stdin.destroy();
      }, STDIN_TIMEOUT_MS)
    : undefined;
  try {
    for await (const chunk of stdin) {
      clearTimeout(timer);
      size += (chunk as Buffer).length;
      if (size > MAX_STDIN_BYTES)
        throw new UsageError('stdin holds more than 16 MiB; write it to a file.');
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString();
};
