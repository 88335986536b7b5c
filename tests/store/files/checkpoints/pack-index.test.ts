import fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeIndex, PackIndex } from '../../../../src/store/files/checkpoints/pack-index.js';
import { temporaryFolder } from '../../session-folder.js';

/** Digests of which many have the same first bytes. */
const digest = fc
  .tuple(fc.constantFrom('0', '7', 'f'), fc.integer({ min: 0, max: 40 }))
  .map(([digit, tail]) => digit.repeat(60) + tail.toString(16).padStart(4, digit));

describe('the index of a pack', () => {
  test('finds its entries, and no others', () => {
    fc.assert(
      fc.property(fc.uniqueArray(digest), digest, (digests, other) => {
        const path = join(temporaryFolder(), 'pack');
        const entries = digests.map((name, at) => ({ digest: name, offset: at, length: 1 }));
        const contents = Buffer.alloc(digests.length);
        fs.writeFileSync(
          path,
          Buffer.concat([contents, encodeIndex(entries, digests.length).bytes]),
        );
        const fd = fs.openSync(path, 'r');
        const index = PackIndex.read(fd);
        fs.closeSync(fd);
        const find = (name: string) => index?.find(Buffer.from(name, 'hex'));
        expect(digests.map(find)).toEqual(entries);
        expect(find(other)?.digest).toBe(digests.includes(other) ? other : undefined);
        expect(index?.count).toBe(digests.length);
      }),
      { numRuns: 50 },
    );
  });
});
