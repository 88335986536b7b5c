import { describe, expect, test } from 'vitest';
import { BatchedOutput } from '../../../src/cli/print/batched-output.js';

const setUp = () => {
  const written: string[] = [];
  return { written, lines: new BatchedOutput((text) => written.push(text)) };
};

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

describe('output lines for a program', () => {
  test('are written in order in a single write at the end of a tick', async () => {
    const { written, lines } = setUp();
    lines.add('one');
    lines.add('two');
    expect(written).toEqual([]);
    await nextTick();
    expect(written).toEqual(['one\ntwo\n']);
    lines.add('three');
    await nextTick();
    expect(written).toEqual(['one\ntwo\n', 'three\n']);
  });

  test('are written before the end of the tick if they exceed the buffer', () => {
    const { written, lines } = setUp();
    lines.add('x'.repeat(64 * 1024));
    expect(written).toHaveLength(1);
  });

  test('are written at once by flush(), and only once', async () => {
    const { written, lines } = setUp();
    lines.add('last');
    lines.flush();
    lines.flush();
    await nextTick();
    expect(written).toEqual(['last\n']);
  });
});
