/**
 * Sends all writes of an event-loop turn in a single system call, because a call per command costs
 * both sides about as much as the command.
 */
import type { Writable } from 'node:stream';

/** Replaces `stream.write`. Only for clients that ignore its result. */
export const coalesceWrites = (stream: Writable): void => {
  const write = stream.write.bind(stream) as (chunk: string | Buffer) => boolean;
  let waiting: (string | Buffer)[] = [];
  const flush = () => {
    const chunks = waiting;
    waiting = [];
    const isText = chunks.every((chunk) => typeof chunk === 'string');
    // Joining as text would damage bytes.
    if (isText) write(chunks.join(''));
    else write(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string))));
  };
  stream.write = ((chunk: string | Buffer) => {
    if (waiting.push(chunk) === 1) setImmediate(flush);
    return true;
  }) as Writable['write'];
};
