import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CapturedOutput } from '../../../src/tools/shell/captured-output.js';

/** Captures chunks of both streams and returns the content of the artifact. */
const artifactOf = async (chunks: readonly (readonly ['stdout' | 'stderr', Uint8Array])[]) => {
  const written: Uint8Array[] = [];
  const artifact = {
    path: '/artifact',
    write: (chunk: Uint8Array) => void written.push(Buffer.from(chunk)),
    close: async () => undefined,
  };
  const output = new CapturedOutput(1, () => artifact);
  for (const [stream, chunk] of chunks) output.add(stream, chunk);
  await output.close(0);
  return Buffer.concat(written);
};

describe('the artifact of a long output', () => {
  test('has whole characters if the other stream came between their bytes', async () => {
    const goose = Buffer.from('🪿');
    const file = await artifactOf([
      ['stdout', Buffer.concat([Buffer.from('a long text '), goose.subarray(0, 2)])],
      ['stderr', Buffer.from('END\n')],
      ['stdout', goose.subarray(2)],
    ]);
    expect(file.toString()).toBe('a long text END\n🪿');
  });

  test('contains every byte for any chunks', async () => {
    const chunk = fc.tuple(fc.constantFrom('stdout', 'stderr'), fc.uint8Array({ maxLength: 6 }));
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { minLength: 1 }), async (chunks) => {
        const start = ['stdout', Buffer.from('ab')] as const;
        const all = [start, ...chunks] as (readonly ['stdout' | 'stderr', Uint8Array])[];
        const size = all.reduce((sum, [, bytes]) => sum + bytes.length, 0);
        expect((await artifactOf(all)).length).toBe(size);
      }),
    );
  });
});
