import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { coalesceWrites } from '../../../../src/store/redis/connection/coalesce-writes.js';

const gathering = () => {
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

describe('what is written in one turn of the event loop', () => {
  test('leaves together, in order', async () => {
    const { stream, written } = gathering();
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

  test('keeps bytes that are no text', async () => {
    const { stream, written } = gathering();
    stream.write('ü');
    stream.write(Buffer.from([0xff, 0x00]));
    await nextTurn();
    expect(Buffer.concat(written)).toEqual(
      Buffer.concat([Buffer.from('ü'), Buffer.from([0xff, 0x00])]),
    );
  });
});
