/** Splits the output of a program into lines of bounded length. */
import { SkeinError } from '../../protocol/skein-error.js';

export class LineTooLongError extends SkeinError {
  readonly code = 'line-too-long';
}

const NEWLINE = 0x0a;

/** Drops a last line without line end. Throws LineTooLongError as soon as a line has more than `maxBytes` bytes. */
export const boundedLines = async function* (
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<string, void> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      const part = chunk.subarray(start, end === -1 ? chunk.length : end);
      parts.push(part);
      length += part.length;
      if (length > maxBytes) throw new LineTooLongError(`A line has more than ${maxBytes} bytes.`);
      if (end === -1) break;
      yield Buffer.concat(parts, length).toString('utf8');
      parts = [];
      length = 0;
      start = end + 1;
    }
  }
};
