import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { EventStream, readEvents } from '../../src/model/event-stream.js';
import type { StreamEvent } from '../../src/protocol/model/model-port.js';

/** Events of a stream that arrives in these pieces. */
const hear = (pieces: readonly Buffer[]) => {
  const heard: StreamEvent[] = [];
  const events = new EventStream({
    take: (event) => void heard.push(event),
    failed: (data) => new Error(`server: ${data}`),
  });
  for (const piece of pieces) events.push(piece);
  return heard;
};

const hearText = (text: string) => hear([Buffer.from(text)]);

const said = (event: StreamEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const EVENTS = [
  { type: 'one', text: 'é🦢\u2028' },
  { type: 'two', list: [1, { x: '\r\n' }] },
];

describe('a stream of events', () => {
  test('is the same wherever it is cut', () => {
    const whole = Buffer.from(EVENTS.map(said).join(''));
    for (let cut = 0; cut <= whole.length; cut += 1) {
      expect(hear([whole.subarray(0, cut), whole.subarray(cut)])).toEqual(EVENTS);
    }
    const bytes = [...whole].map((byte) => Buffer.from([byte]));
    expect(hear(bytes)).toEqual(EVENTS);
  });

  test.each([
    ['carriage returns', '\r\n'],
    ['bare carriage returns', '\r'],
  ])('may end its lines with %s, cut anywhere', (_, lineEnd) => {
    const text = EVENTS.map(said).join('').replaceAll('\n', lineEnd);
    const bytes = [...Buffer.from(`${text}\n`)].map((byte) => Buffer.from([byte]));
    expect(hear(bytes)).toEqual(EVENTS);
  });

  test('may begin with a byte order mark, and say things that mean nothing', () => {
    const noise = ': comment\n\nid: 7\nretry: 3\n\nevent: ping\ndata: {"type": "ping"}\n\n';
    const nameless = 'data: {"type":"nameless"}\n\n';
    const empty = 'event: empty\n\n';
    const dense = 'event:dense\ndata:{"type":"dense"}\n\n';
    expect(hearText(`\uFEFF${dense}${noise}${nameless}${empty}`)).toEqual([{ type: 'dense' }]);
  });

  test('may spread one value over several lines', () => {
    expect(hearText('event: x\ndata: {"type":\ndata: "x"}\n\n')).toEqual([{ type: 'x' }]);
  });

  test('says nothing of an event that has not ended', () => {
    expect(hearText('event: x\ndata: {"type":"x"}\n')).toEqual([]);
  });

  test('fails with what the server says has gone wrong', () => {
    const text = `${said({ type: 'one' })}event: error\ndata: {"e":1}\n\n`;
    expect(() => hearText(text)).toThrow('server: {"e":1}');
  });

  test('fails at what is no JSON', () => {
    expect(() => hearText('event: x\ndata: {"type\n\n')).toThrow(SyntaxError);
  });

  test('is refused when it goes on for ever', () => {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    expect(() => hear(Array.from({ length: 257 }, () => piece))).toThrow('more than 256 MiB');
  });
});

describe('the reading of an answer', () => {
  const failed = (data: string) => new Error(`server: ${data}`);

  test('ends with the answer, whose last line may lack its end', async () => {
    const answer = new PassThrough();
    const heard: StreamEvent[] = [];
    const reading = readEvents(answer, { take: (event) => void heard.push(event), failed });
    answer.end(EVENTS.map(said).join('').replaceAll('\n', '\r'));
    await reading;
    expect(heard).toEqual(EVENTS);
  });

  test('destroys the response at the first error, and reads no more', async () => {
    const answer = new PassThrough();
    const heard: string[] = [];
    const take = ({ type }: StreamEvent) => {
      heard.push(type);
      throw new Error('not that');
    };
    const reading = readEvents(answer, { take, failed });
    for (const event of EVENTS) answer.write(said(event));
    await expect(reading).rejects.toThrow('not that');
    await new Promise((resolve) => setImmediate(resolve));
    expect([heard, answer.destroyed]).toEqual([['one'], true]);
  });
});
