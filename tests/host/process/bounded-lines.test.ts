import { describe, expect, test } from 'vitest';
import { boundedLines, LineTooLongError } from '../../../src/host/process/bounded-lines.js';

const linesOf = async (chunks: readonly Buffer[], maxBytes = 100) => {
  const lines: string[] = [];
  const source = (async function* () {
    yield* chunks;
  })();
  for await (const line of boundedLines(source, maxBytes)) lines.push(line);
  return lines;
};

describe('bounded lines', () => {
  test('do not depend on the chunks of the input', async () => {
    const bytes = Buffer.from('{"a":1}\n\nä🪿\u2028\r\nlast\n');
    const whole = await linesOf([bytes]);
    expect(whole).toEqual(['{"a":1}', '', 'ä🪿\u2028\r', 'last']);
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(await linesOf([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
  });

  test('omit an incomplete last line', async () => {
    expect(await linesOf([Buffer.from('one\ntw')])).toEqual(['one']);
  });

  test('reject a line that is too long before it has ended', async () => {
    expect(await linesOf([Buffer.from('12345\n')], 5)).toEqual(['12345']);
    const endless = [Buffer.from('123'), Buffer.from('456')];
    await expect(linesOf(endless, 5)).rejects.toBeInstanceOf(LineTooLongError);
  });
});
