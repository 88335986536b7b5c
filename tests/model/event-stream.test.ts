import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { EventStream, readEvents } from '../../src/model/event-stream.js';
import type { StreamEvent } from '../../src/protocol/model/model-port.js';

/** Events of a stream that arrives in these pieces. */
const parsePieces = (pieces: readonly Buffer[]) => {
  const received: StreamEvent[] = [];
  const events = new EventStream({
    take: (event) => void received.push(event),
    failed: (data) => new Error(`server: ${data}`),
  });
  for (const piece of pieces) events.push(piece);
  return received;
};

const parseText = (text: string) => parsePieces([Buffer.from(text)]);

const frameOf = (event: StreamEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const EVENTS = [
  { type: 'one', text: 'é🦢\u2028' },
  { type: 'two', list: [1, { x: '\r\n' }] },
];

describe('an event stream', () => {
  test('returns the same events wherever it is split', () => {
    const whole = Buffer.from(EVENTS.map(frameOf).join(''));
    for (let cut = 0; cut <= whole.length; cut += 1) {
      expect(parsePieces([whole.subarray(0, cut), whole.subarray(cut)])).toEqual(EVENTS);
    }
    const bytes = [...whole].map((byte) => Buffer.from([byte]));
    expect(parsePieces(bytes)).toEqual(EVENTS);
  });

  test.each([
    ['carriage returns', '\r\n'],
    ['bare carriage returns', '\r'],
  ])('may end its lines with %s, split anywhere', (_, lineEnd) => {
    const text = EVENTS.map(frameOf).join('').replaceAll('\n', lineEnd);
    const bytes = [...Buffer.from(`${text}\n`)].map((byte) => Buffer.from([byte]));
    expect(parsePieces(bytes)).toEqual(EVENTS);
  });

  test('announces content before the end of a long line, and no content for comments and pings', () => {
    let contents = 0;
    const sink = { take: () => {}, failed: () => new Error(), onContent: () => void contents++ };
    const events = new EventStream(sink);
    const pings = `event: ping\ndata: {"type": "ping"}\n\n:${'.'.repeat(3_000)}\n\n`;
    for (const character of pings) events.push(Buffer.from(character));
    expect(contents).toBe(0);
    for (const piece of ['event: one\n', 'data: {"text":"', 'x'.repeat(2_000)])
      events.push(Buffer.from(piece));
    expect(contents).toBe(1);
  });

  test('may have a byte order mark, comments and unknown fields', () => {
    const noise = ': comment\n\nid: 7\nretry: 3\n\nevent: ping\ndata: {"type": "ping"}\n\n';
    const nameless = 'data: {"type":"nameless"}\n\n';
    const empty = 'event: empty\n\n';
    const dense = 'event:dense\ndata:{"type":"dense"}\n\n';
    expect(parseText(`\uFEFF${dense}${noise}${nameless}${empty}`)).toEqual([{ type: 'dense' }]);
  });

  test('joins several data lines of an event', () => {
    expect(parseText('event: x\ndata: {"type":\ndata: "x"}\n\n')).toEqual([{ type: 'x' }]);
  });

  test('does not return an event without its final blank line', () => {
    expect(parseText('event: x\ndata: {"type":"x"}\n')).toEqual([]);
  });

  test('throws the error that the server sends', () => {
    const text = `${frameOf({ type: 'one' })}event: error\ndata: {"e":1}\n\n`;
    expect(() => parseText(text)).toThrow('server: {"e":1}');
  });

  test('throws at data that is not JSON', () => {
    expect(() => parseText('event: x\ndata: {"type\n\n')).toThrow(SyntaxError);
  });

  test('throws above 256 MiB', () => {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    expect(() => parsePieces(Array.from({ length: 257 }, () => piece))).toThrow(
      'more than 256 MiB',
    );
  });
});

describe('reading an answer', () => {
  const failed = (data: string) => new Error(`server: ${data}`);

  test('returns all events if the last line has no line end', async () => {
    const answer = new PassThrough();
    const received: StreamEvent[] = [];
    const reading = readEvents(answer, { take: (event) => void received.push(event), failed });
    answer.end(EVENTS.map(frameOf).join('').replaceAll('\n', '\r'));
    await reading;
    expect(received).toEqual(EVENTS);
  });

  test('destroys the response at the first error and stops reading', async () => {
    const answer = new PassThrough();
    const received: string[] = [];
    const take = ({ type }: StreamEvent) => {
      received.push(type);
      throw new Error('not that');
    };
    const reading = readEvents(answer, { take, failed });
    for (const event of EVENTS) answer.write(frameOf(event));
    await expect(reading).rejects.toThrow('not that');
    await new Promise((resolve) => setImmediate(resolve));
    expect([received, answer.destroyed]).toEqual([['one'], true]);
  });
});
