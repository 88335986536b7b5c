/**
 * Event stream parser of the Messages API: server-sent events, each with a JSON value.
 * A chunk may end inside a character, so only complete lines are decoded.
 */
import type { Readable } from 'node:stream';
import { ModelFailure, type StreamEvent } from '../protocol/model/model-port.js';

interface EventSink {
  take(event: StreamEvent): void;
  /** Receives the data of an `error` event. Returns the error that `readEvents` rejects with. */
  failed(data: string): Error;
  /** Called for content. Pings and comments are no content. */
  onContent?(): void;
}

/** Resolves at the end of the response. Destroys the response and rejects if the sink throws. */
export const readEvents = (response: Readable, sink: EventSink): Promise<void> =>
  new Promise((resolve, reject) => {
    const events = new EventStream(sink);
    const take = (chunk: Buffer) => {
      try {
        events.push(chunk);
      } catch (error) {
        response.off('data', take);
        reject(error);
        response.destroy();
      }
    };
    response.on('data', take);
    response.on('error', reject);
    response.on('end', () => {
      take(LAST_LINE_END);
      resolve();
    });
  });

/** Maximum bytes of a response. The longest real answer in the smallest chunks stays far below. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
const RESPONSE_TOO_LONG = 'The server sent more than 256 MiB for one message, which no model does.';
const NEWLINE = 10;
/** Starts a comment. */
const COLON = 58;
/** Maximum bytes of a line of a ping. */
const MAX_PING_LENGTH = 1_024;
/** Ends the last line. Needed if lines end with bare carriage returns. */
const LAST_LINE_END = Buffer.from('\n');
const BYTE_ORDER_MARK = '\uFEFF';

export class EventStream {
  private readonly sink: EventSink;
  private remainingBytes = MAX_RESPONSE_BYTES;
  /** Chunks of the line that is not complete yet. */
  private partialLine: Buffer[] = [];
  private partialLength = 0;
  private name: string | null = null;
  private data: string | null = null;

  constructor(sink: EventSink) {
    this.sink = sink;
  }

  push(chunk: Buffer): void {
    this.remainingBytes -= chunk.length;
    if (this.remainingBytes < 0) throw new ModelFailure('rejected', RESPONSE_TOO_LONG);
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      this.partialLine.push(chunk);
      this.partialLength += chunk.length;
      // Only an event with content has such a long line.
      const isComment = this.partialLine[0]?.[0] === COLON;
      if (this.partialLength > MAX_PING_LENGTH && !isComment) this.sink.onContent?.();
      return;
    }
    const whole = end === chunk.length ? chunk : chunk.subarray(0, end);
    const text =
      this.partialLine.length === 0 ? whole : Buffer.concat([...this.partialLine, whole]);
    this.partialLine = end === chunk.length ? [] : [chunk.subarray(end)];
    this.partialLength = chunk.length - end;
    this.takeLines(text.toString());
  }

  private takeLines(received: string): void {
    const text = received.includes('\r') ? received.replaceAll(/\r\n?/g, '\n') : received;
    let start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
    for (let end = text.indexOf('\n', start); end !== -1; end = text.indexOf('\n', start)) {
      if (end === start) this.dispatch();
      else if (text.startsWith('data:', start)) this.addData(valueIn(text, start + 5, end));
      else if (text.startsWith('event:', start)) this.name = valueIn(text, start + 6, end);
      start = end + 1;
    }
  }

  private addData(value: string): void {
    this.data = this.data === null ? value : `${this.data}\n${value}`;
  }

  private dispatch(): void {
    const { name, data } = this;
    [this.name, this.data] = [null, null];
    if (name === null || name === 'ping') return;
    if (name === 'error') throw this.sink.failed(data ?? '');
    this.sink.onContent?.();
    if (data) this.sink.take(JSON.parse(data) as StreamEvent);
  }
}

/** Returns the field value without the single space that may follow the colon. */
const valueIn = (text: string, from: number, to: number): string =>
  text.slice(text[from] === ' ' ? from + 1 : from, to);
