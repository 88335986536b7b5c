/** Splits the output of a program into lines of bounded length. */
import { SkeinError } from '../../protocol/skein-error.js';

export class LineTooLongError extends SkeinError {
  readonly code = 'line-too-long';
}

const NEWLINE = 0x0a;

/** Drops a last line without line end. Throws LineTooLongError as soon as a line has more than `most` bytes. */
export const boundedLines = async function* (
  chunks: AsyncIterable<Buffer>,
  most: number,
): AsyncGenerator<string, void> {
  let kept: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
      kept.push(piece);
      length += piece.length;
      if (length > most) throw new LineTooLongError(`A line has more than ${most} bytes.`);
      if (end === -1) break;
      yield Buffer.concat(kept, length).toString('utf8');
      kept = [];
      length = 0;
      start = end + 1;
    }
  }
};
