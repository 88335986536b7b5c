/**
 * The answer of the Messages API as it is spoken: server-sent events, each with one JSON value. A chunk
 * may end anywhere, also inside a letter; lines are only made of bytes that have come in whole.
 */
import type { Readable } from 'node:stream';
import { ModelFailure, type StreamEvent } from '../protocol/model/model.js';

export interface EventSink {
  take(event: StreamEvent): void;
  /** The server says that it has failed; returns what its reader is to fail with. */
  failed(data: string): Error;
}

/** Resolves when the answer has ended; what the sink throws breaks it off. */
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

/** The longest answer in the smallest pieces stays far below; an endless one ends here. */
const MAX_BYTES = 256 * 1024 * 1024;
const TOO_MUCH = 'The server sent more than 256 MiB for one message, which no model does.';
const NEWLINE = 10;
/** Only a stream of bare carriage returns says anything in a line that nobody has ended. */
const LAST_LINE_END = Buffer.from('\n');
const BYTE_ORDER_MARK = '\uFEFF';

export class EventStream {
  private readonly sink: EventSink;
  private left = MAX_BYTES;
  /** The beginning of a line whose end has not come yet. */
  private begun: Buffer[] = [];
  private name: string | null = null;
  private data: string | null = null;

  constructor(sink: EventSink) {
    this.sink = sink;
  }

  push(chunk: Buffer): void {
    this.left -= chunk.length;
    if (this.left < 0) throw new ModelFailure('rejected', TOO_MUCH);
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      this.begun.push(chunk);
      return;
    }
    const whole = end === chunk.length ? chunk : chunk.subarray(0, end);
    const text = this.begun.length === 0 ? whole : Buffer.concat([...this.begun, whole]);
    this.begun = end === chunk.length ? [] : [chunk.subarray(end)];
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
    if (data) this.sink.take(JSON.parse(data) as StreamEvent);
  }
}

/** One blank after the colon is not part of the value. */
const valueIn = (text: string, from: number, to: number): string =>
  text.slice(text[from] === ' ' ? from + 1 : from, to);
