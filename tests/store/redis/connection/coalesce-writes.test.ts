import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { coalesceWrites } from '../../../../src/store/redis/connection/coalesce-writes.js';

const coalescingStream = () => {
  const written: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  coalesceWrites(stream);
  return { stream, written };
};

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('writes in the same turn of the event loop', () => {
  test('are sent together, in order', async () => {
    const { stream, written } = coalescingStream();
    stream.write('one ');
    await Promise.resolve();
    stream.write('two ü');
    expect(written).toEqual([]);
    await nextTurn();
    expect(written.map(String)).toEqual(['one two ü']);
    stream.write('three');
    await nextTurn();
    expect(written.map(String)).toEqual(['one two ü', 'three']);
  });

  test('keep bytes that are not text', async () => {
    const { stream, written } = coalescingStream();
    stream.write('ü');
    stream.write(Buffer.from([0xff, 0x00]));
    await nextTurn();
    expect(Buffer.concat(written)).toEqual(
      Buffer.concat([Buffer.from('ü'), Buffer.from([0xff, 0x00])]),
    );
  });
});
