/** The prompt of a print run: from the arguments, from stdin, or both. */
import { fstatSync } from 'node:fs';
import { UsageError } from '../../protocol/errors.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';

/** More than any model's window holds. */
const MAX_STDIN = 16 * 1024 * 1024;
/** How long a pipe may be silent when the arguments already say what to do. */
const PATIENCE_MS = 3_000;

const NO_PROMPT = 'There is no prompt: give one, as in skein -p "…", or pipe one in.';

/** Throws a UsageError with the sentence `none` where there is nothing. */
export const readPrompt = async (
  given: string | undefined,
  { stdin, err }: TerminalHost,
  none = NO_PROMPT,
): Promise<string> => {
  const piped = stdin.isTTY ? '' : await readPiped(stdin, given !== undefined, err);
  const prompt = [given ?? '', piped].map((text) => text.trim()).filter((text) => text !== '');
  if (prompt.length === 0) throw new UsageError(none);
  return prompt.join('\n\n');
};

const readPiped = async (
  stdin: TerminalHost['stdin'],
  hasPrompt: boolean,
  err: TerminalHost['err'],
): Promise<string> => {
  if (hasPrompt && !isPipeOrFile(stdin)) return '';
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = hasPrompt
    ? setTimeout(() => {
        err('skein: Nothing came from stdin for 3 seconds; going on without it.\n');
        stdin.destroy();
      }, PATIENCE_MS)
    : undefined;
  try {
    for await (const chunk of stdin) {
      clearTimeout(timer);
      size += (chunk as Buffer).length;
      if (size > MAX_STDIN)
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

const isPipeOrFile = ({ fd }: TerminalHost['stdin']): boolean => {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isFile() || stat.isSocket();
  } catch {
    return false;
  }
};
