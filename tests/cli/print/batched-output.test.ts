import { describe, expect, test } from 'vitest';
import { BatchedOutput } from '../../../src/cli/print/batched-output.js';

const watched = () => {
  const written: string[] = [];
  return { written, lines: new BatchedOutput((text) => written.push(text)) };
};

const aTick = () => new Promise((resolve) => setImmediate(resolve));

describe('lines for a program', () => {
  test('of one tick are one write at its end, in order', async () => {
    const { written, lines } = watched();
    lines.add('one');
    lines.add('two');
    expect(written).toEqual([]);
    await aTick();
    expect(written).toEqual(['one\ntwo\n']);
    lines.add('three');
    await aTick();
    expect(written).toEqual(['one\ntwo\n', 'three\n']);
  });

  test('do not pile up: many are written before the tick ends', () => {
    const { written, lines } = watched();
    lines.add('x'.repeat(64 * 1024));
    expect(written).toHaveLength(1);
  });

  test('are written at once when they must be, and only once', async () => {
    const { written, lines } = watched();
    lines.add('last');
    lines.flush();
    lines.flush();
    await aTick();
    expect(written).toEqual(['last\n']);
  });
});
