/** Cuts what a program says into lines, and gives up on a line that does not end. */
import { SkeinError } from '../../protocol/skein-error.js';

export class LineTooLongError extends SkeinError {
  readonly code = 'line-too-long';
}

const NEWLINE = 0x0a;

/**
 * What has no line end was cut short, and is nobody's line. Throws a LineTooLongError as soon as a
 * line has more than `most` bytes, whether it ends or not.
 */
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
