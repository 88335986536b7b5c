import fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  blobDigest,
  checkpointBlobs,
} from '../../../../src/store/files/checkpoints/checkpoint-blobs.js';
import { encodeIndex } from '../../../../src/store/files/checkpoints/pack-index.js';
import { StoredPacks } from '../../../../src/store/files/checkpoints/stored-packs.js';
import { makeOld, newRoot, packPaths, packUp } from './packs.js';

const HOUR_MS = 3_600_000;
const bytes = (text: string) => Buffer.from(text);
const [first, second, third] = [bytes('first'), bytes('second'), bytes('')] as const;
const ALL = [first, second, third];

/** Contents of any size: mostly small, and some around and above the size of a chunk. */
const contents = fc.oneof(
  { arbitrary: fc.uint8Array({ maxLength: 40 }), weight: 20 },
  {
    arbitrary: fc
      .tuple(fc.nat(255), fc.integer({ min: 1_048_570, max: 2_200_000 }))
      .map(([fill, length]) => new Uint8Array(length).fill(fill)),
    weight: 1,
  },
);

/** Every byte of a file, with a change of it. */
const places = (path: string) =>
  [...fs.readFileSync(path).keys()].map((at) => ({ at, flip: 1 + ((at * 37) % 255) }));

const damaged = (file: Buffer, { at, flip }: { at: number; flip: number }): Buffer => {
  const copy = Buffer.from(file);
  copy[at] = (copy[at] ?? 0) ^ flip;
  return copy;
};

const dateOf = (path: string) => fs.statSync(path).mtimeMs;
const hoursAgo = (hours: number) => (Date.now() - hours * HOUR_MS) / 1000;

describe('blobs in packs', () => {
  test('are read as they were written, by readers from before and after', () => {
    const groups = fc.array(fc.record({ isPacked: fc.boolean(), all: fc.array(contents) }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(groups, fc.uint8Array({ minLength: 41, maxLength: 50 }), (stored, missing) => {
        const root = newRoot();
        const early = checkpointBlobs(root);
        expect(early.has(blobDigest(missing))).toBe(false);
        for (const { isPacked, all } of stored) {
          if (isPacked) packUp(root, all);
          else for (const each of all) early.put(each);
        }
        for (const reader of [early, checkpointBlobs(root)]) {
          for (const each of stored.flatMap(({ all }) => all)) {
            const digest = blobDigest(each);
            const read = reader.read(digest);
            expect(reader.has(digest)).toBe(true);
            expect('reason' in read || Buffer.compare(read, each) === 0).toBe(true);
            expect(read).not.toHaveProperty('reason');
          }
          expect(reader.has(blobDigest(missing))).toBe(false);
          expect(reader.read(blobDigest(missing))).toEqual({ reason: 'its checkpoint is gone' });
        }
        fs.rmSync(root, { recursive: true, force: true });
      }),
      { numRuns: 40 },
    );
  });

  test('are found as soon as their pack is sealed', () => {
    const root = newRoot();
    const reader = checkpointBlobs(root);
    for (const text of Array.from({ length: 50 }, (_, at) => `text ${at}`)) {
      expect(reader.has(blobDigest(bytes(text)))).toBe(false);
      packUp(root, [bytes(text)]);
      expect(reader.has(blobDigest(bytes(text)))).toBe(true);
    }
  });

  test('are not written again', () => {
    const root = newRoot();
    packUp(root, ALL);
    for (const each of ALL) expect(checkpointBlobs(root).put(each)).toBe(blobDigest(each));
    expect(fs.readdirSync(root)).toEqual(['packs']);
  });

  test('keep the date of their pack current while they are in use', () => {
    const root = newRoot();
    const path = packUp(root, ALL) ?? '';
    const isCurrent = () => dateOf(path) > hoursAgo(1) * 1000;
    for (const use of ['has', 'put'] as const) {
      const blobs = checkpointBlobs(root);
      const find = () => (use === 'has' ? blobs.has(blobDigest(first)) : blobs.put(first));
      fs.utimesSync(path, 1, hoursAgo(2));
      find();
      expect(isCurrent()).toBe(true);
      fs.utimesSync(path, 1, hoursAgo(2));
      find();
      expect(isCurrent()).toBe(false);
    }
    const halfAnHourAgo = hoursAgo(0.5);
    fs.utimesSync(path, 1, halfAnHourAgo);
    checkpointBlobs(root).has(blobDigest(first));
    expect(dateOf(path)).toBeCloseTo(halfAnHourAgo * 1000, -1);
  });
});

describe('a damaged pack', () => {
  /** Checks that no copy is returned with wrong bytes. Returns whether all blobs were read. */
  const isWhole = (reader: ReturnType<typeof checkpointBlobs>) => {
    const reads = ALL.map((each) => {
      reader.has(blobDigest(each));
      const read = reader.read(blobDigest(each));
      if (!('reason' in read)) expect(read).toEqual(each);
      else expect(['its checkpoint is gone', 'its checkpoint is damaged']).toContain(read.reason);
      return !('reason' in read);
    });
    return reads.every(Boolean);
  };

  test.each([
    ['cut after any byte', (file: Buffer, { at }: { at: number }) => file.subarray(0, at)],
    ['changed at any byte', damaged],
    [
      'with any additional byte',
      (file: Buffer, { at, flip }: { at: number; flip: number }) =>
        Buffer.concat([file.subarray(0, at), Buffer.of(flip), file.subarray(at)]),
    ],
  ])('%s never yields wrong bytes', (_, damage) => {
    const root = newRoot();
    const path = packUp(root, ALL) ?? '';
    const file = fs.readFileSync(path);
    const known = checkpointBlobs(root);
    expect(isWhole(known)).toBe(true);
    for (const place of places(path)) {
      fs.writeFileSync(path, damage(file, place));
      expect([place.at, isWhole(checkpointBlobs(root))]).toEqual([place.at, false]);
      isWhole(known);
    }
  });

  test('is damaged for a reader that knew it, and its blobs are read from other packs and files', () => {
    const root = newRoot();
    const path = packUp(root, ALL) ?? '';
    const file = fs.readFileSync(path);
    const known = checkpointBlobs(root);
    isWhole(known);
    fs.writeFileSync(path, damaged(file, { at: 0, flip: 1 }));
    expect(known.read(blobDigest(first))).toEqual({ reason: 'its checkpoint is damaged' });
    packUp(root, [first, bytes('other')]);
    for (const reader of [known, checkpointBlobs(root)]) expect(isWhole(reader)).toBe(true);
    const loose = newRoot();
    const digest = checkpointBlobs(loose).put(second);
    const folder = digest.slice(0, 2);
    fs.cpSync(join(loose, folder), join(root, folder), { recursive: true });
    for (const packed of packPaths(root)) fs.writeFileSync(packed, '');
    expect(checkpointBlobs(root).read(digest)).toEqual(second);
    fs.writeFileSync(path, file);
    fs.writeFileSync(join(root, folder, digest.slice(2)), 'secund');
    expect(checkpointBlobs(root).read(digest)).toEqual(second);
  });

  test('with a length that its contents lack has a damaged blob', () => {
    const root = newRoot();
    const path = packUp(root, [first]) ?? '';
    const entry = { digest: blobDigest(second), offset: 1, length: 2 ** 40 };
    const index = encodeIndex([entry], first.length);
    fs.writeFileSync(path, Buffer.concat([first, index.bytes]));
    const reason = 'its checkpoint is damaged';
    expect(checkpointBlobs(root).read(entry.digest)).toEqual({ reason });
  });

  test('is ignored if another program wrote it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (file) => {
        const root = newRoot();
        packUp(root, [first]);
        fs.writeFileSync(join(root, 'packs', `${'0'.repeat(32)}.pack`), file);
        fs.symlinkSync('nowhere', join(root, 'packs', `${'1'.repeat(32)}.pack`));
        fs.mkdirSync(join(root, 'packs', `${'2'.repeat(32)}.pack`));
        const reader = checkpointBlobs(root);
        expect([reader.has(blobDigest(first)), reader.has(blobDigest(second))]).toEqual([
          true,
          false,
        ]);
        fs.rmSync(root, { recursive: true });
      }),
      { numRuns: 30 },
    );
  });

  test('of a later version is ignored', () => {
    const root = newRoot();
    const path = packUp(root, [first]) ?? '';
    const file = fs.readFileSync(path);
    file[file.indexOf('skeinpak') + 'skeinpak'.length + 3] = 2;
    fs.writeFileSync(path, file);
    expect(checkpointBlobs(root).has(blobDigest(first))).toBe(false);
  });
});

describe('a pack that a sweep removed', () => {
  test('is looked up in the pack that has its blobs now', () => {
    const root = newRoot();
    const path = packUp(root, ALL) ?? '';
    makeOld(root);
    const [reading, finding, later] = [1, 2, 3].map(() => checkpointBlobs(root));
    for (const reader of [reading, finding, later]) reader?.read(blobDigest(second));
    packUp(root, [first]);
    fs.rmSync(path);
    expect(reading?.read(blobDigest(first))).toEqual(first);
    expect(reading?.read(blobDigest(second))).toEqual({ reason: 'its checkpoint is gone' });
    expect(reading?.has(blobDigest(second))).toBe(false);
    expect([finding?.has(blobDigest(first)), finding?.has(blobDigest(second))]).toEqual([
      true,
      false,
    ]);
    later?.put(second);
    expect(checkpointBlobs(root).read(blobDigest(second))).toEqual(second);
  });

  test('is forgotten', () => {
    const root = newRoot();
    const digest = blobDigest(first);
    const packs = new StoredPacks(root);
    for (const forget of [() => packs.refresh(), () => packs.has(digest)]) {
      const path = packUp(root, ALL) ?? '';
      makeOld(root);
      expect(packs.refresh()).toBe(true);
      fs.rmSync(path);
      forget();
      expect(packs.has(digest)).toBe(false);
    }
  });
});
