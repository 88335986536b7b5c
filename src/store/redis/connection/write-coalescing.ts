/**
 * What is written in one turn of the event loop leaves together: many agents ask Redis at once, and a
 * system call for each command costs both sides about as much as the command does.
 */
import type { Writable } from 'node:stream';

/** For a client that looks at nothing that `write` returns. */
export const gatherWrites = (stream: Writable): void => {
  const write = stream.write.bind(stream) as (chunk: string | Buffer) => boolean;
  let waiting: (string | Buffer)[] = [];
  const flush = () => {
    const chunks = waiting;
    waiting = [];
    const isText = chunks.every((chunk) => typeof chunk === 'string');
    // Bytes would not survive a text.
    if (isText) write(chunks.join(''));
    else write(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string))));
  };
  stream.write = ((chunk: string | Buffer) => {
    if (waiting.push(chunk) === 1) setImmediate(flush);
    return true;
  }) as Writable['write'];
};
