import fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  blobDigest,
  checkpointBlobs,
} from '../../../../src/store/files/checkpoints/checkpoint-blobs.js';
import { sweepBlobs } from '../../../../src/store/files/checkpoints/sweep-blobs.js';
import { filesIn, makeOld, newRoot, packPaths, packUp, sizeOf } from './packs.js';

const bytes = (text: string) => Buffer.from(text);
const digestsOf = (...contents: readonly string[]) =>
  new Set(contents.map((text) => blobDigest(bytes(text))));
const aMinuteAgo = () => Date.now() - 60_000;

const contents = fc.array(fc.string({ maxLength: 30 }), { minLength: 1, maxLength: 12 });

/** Contents of a file, and how its blobs are used. */
const stored = fc.record({
  texts: contents,
  isPacked: fc.boolean(),
  isOld: fc.boolean(),
  /** Selects the cited blobs. */
  citing: fc.integer({ min: 0, max: 4095 }),
});

describe('sweepBlobs', () => {
  test('removes old blobs that no checkpoint cites', () => {
    const root = newRoot();
    const blobs = checkpointBlobs(root);
    const pathOf = (digest: string) => join(root, digest.slice(0, 2), digest.slice(2));
    const [cited = '', old = ''] = ['cited', 'old'].map((text) => blobs.put(bytes(text)));
    makeOld(root);
    const young = blobs.put(bytes('young'));
    const isCited = (digest: string) => digest === cited;
    expect(sweepBlobs(root, isCited, aMinuteAgo(), true).removed).toBe(1);
    expect(sweepBlobs(root, isCited, aMinuteAgo())).toEqual({ removed: 1, freedBytes: 3 });
    expect([cited, old, young].map((digest) => fs.existsSync(pathOf(digest)))).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('removes no blob if the folder does not exist', () => {
    expect(sweepBlobs('/no/such/folder', () => false, Date.now()).removed).toBe(0);
  });

  test.each([
    ['removes a pack without cited blobs', [], 0],
    ['rewrites a pack of which half is cited', ['aa'], 1],
    ['keeps a pack of which more than half is cited', ['aa', 'b'], 3],
  ])('%s', (_, cited, left) => {
    const root = newRoot();
    packUp(root, [bytes('aa'), bytes('b'), bytes('c')]);
    makeOld(root);
    const size = sizeOf(root);
    const isCited = (digest: string) => digestsOf(...cited).has(digest);
    const planned = sweepBlobs(root, isCited, aMinuteAgo(), true);
    expect(sizeOf(root)).toBe(size);
    expect(sweepBlobs(root, isCited, aMinuteAgo())).toEqual(planned);
    expect(planned).toEqual({ removed: 3 - left, freedBytes: size - sizeOf(root) });
    const found = ['aa', 'b', 'c'].filter((text) =>
      checkpointBlobs(root).has(blobDigest(bytes(text))),
    );
    expect(found).toHaveLength(left);
    expect(packPaths(root)).toHaveLength(Math.min(left, 1));
  });

  test('keeps young packs, and removes only old drafts', () => {
    const root = newRoot();
    packUp(root, [bytes('a')]);
    const draft = join(root, 'packs', '.skein-00ff.tmp');
    fs.writeFileSync(draft, 'draft');
    expect(sweepBlobs(root, () => false, aMinuteAgo())).toEqual({ removed: 0, freedBytes: 0 });
    fs.utimesSync(draft, 1, 1);
    expect(sweepBlobs(root, () => false, aMinuteAgo())).toEqual({ removed: 0, freedBytes: 5 });
    expect(packPaths(root)).toHaveLength(1);
  });

  test('keeps a pack in which a scan has just found a blob', () => {
    const root = newRoot();
    packUp(root, [bytes('a'), bytes('b')]);
    makeOld(root);
    expect(checkpointBlobs(root).has(blobDigest(bytes('a')))).toBe(true);
    expect(sweepBlobs(root, () => false, aMinuteAgo()).removed).toBe(0);
    makeOld(root);
    const isCited = (digest: string) => {
      checkpointBlobs(root).has(blobDigest(bytes('b')));
      return digestsOf('a').has(digest);
    };
    expect(sweepBlobs(root, isCited, aMinuteAgo())).toEqual({ removed: 0, freedBytes: 0 });
    expect(checkpointBlobs(root).read(blobDigest(bytes('b')))).toEqual(bytes('b'));
  });

  test('moves a blob of several packs once', () => {
    const root = newRoot();
    packUp(root, ['cited', 'unused'].map(bytes));
    packUp(root, ['cited', 'unused too'].map(bytes));
    makeOld(root);
    const size = sizeOf(root);
    const isCited = (digest: string) => digestsOf('cited').has(digest);
    const planned = sweepBlobs(root, isCited, aMinuteAgo(), true);
    expect(sweepBlobs(root, isCited, aMinuteAgo())).toEqual(planned);
    expect(planned).toEqual({ removed: 3, freedBytes: size - sizeOf(root) });
    expect(checkpointBlobs(root).read(blobDigest(bytes('cited')))).toEqual(bytes('cited'));
  });

  test('does not write a pack again that has only an empty file', () => {
    const root = newRoot();
    const path = packUp(root, [bytes('')]) ?? '';
    makeOld(root);
    sweepBlobs(root, () => true, aMinuteAgo());
    expect(fs.statSync(path).mtimeMs).toBe(1000);
  });

  test('keeps files that are not readable packs', () => {
    const root = newRoot();
    const path = packUp(root, [bytes('a')]) ?? '';
    fs.truncateSync(path, 30);
    for (const name of ['notes', `${'1'.repeat(32)}.pack`]) {
      fs.writeFileSync(join(root, 'packs', name), 'foreign');
    }
    makeOld(root);
    expect(sweepBlobs(root, () => false, aMinuteAgo())).toEqual({ removed: 0, freedBytes: 0 });
    expect(packPaths(root)).toHaveLength(3);
  });

  test('does not move a damaged blob', () => {
    const root = newRoot();
    const path = packUp(root, [bytes('good'), bytes('evil'), bytes('more, uncited')]) ?? '';
    const file = fs.readFileSync(path);
    file[file.indexOf('evil')] = 0;
    fs.writeFileSync(path, file);
    makeOld(root);
    const isCited = (digest: string) => digestsOf('good', 'evil').has(digest);
    const planned = sweepBlobs(root, isCited, aMinuteAgo(), true);
    expect(sweepBlobs(root, isCited, aMinuteAgo())).toEqual(planned);
    expect(planned).toEqual({ removed: 2, freedBytes: file.length - sizeOf(root) });
    const blobs = checkpointBlobs(root);
    expect(blobs.read(blobDigest(bytes('good')))).toEqual(bytes('good'));
    expect(blobs.has(blobDigest(bytes('evil')))).toBe(false);
  });

  test('loses no cited or young blob, and counts the removed blobs and bytes', () => {
    fc.assert(
      fc.property(fc.array(stored, { maxLength: 6 }), (all) => {
        const root = newRoot();
        const cited = new Set<string>();
        const needed = new Map<string, Buffer>();
        for (const { texts, isPacked, isOld, citing } of all) {
          const before = new Set(filesIn(root));
          if (isPacked) packUp(root, texts.map(bytes));
          else for (const text of texts) checkpointBlobs(root).put(bytes(text));
          const written = filesIn(root).filter((path) => !before.has(path));
          if (isOld) for (const path of written) fs.utimesSync(path, 1, 1);
          for (const [at, text] of texts.entries()) {
            const isCited = ((citing >> at) & 1) === 1;
            if (isCited) cited.add(blobDigest(bytes(text)));
            if (isCited || (!isOld && written.length > 0)) {
              needed.set(blobDigest(bytes(text)), bytes(text));
            }
          }
        }
        const sizeBefore = sizeOf(root);
        const isCited = (digest: string) => cited.has(digest);
        const planned = sweepBlobs(root, isCited, aMinuteAgo(), true);
        expect(sizeOf(root)).toBe(sizeBefore);
        expect(sweepBlobs(root, isCited, aMinuteAgo())).toEqual(planned);
        // A pack that is written again may have the name of a pack that exists.
        const texts = all.flatMap((group) => [...new Set(group.texts)]);
        const freed = sizeBefore - sizeOf(root);
        expect(freed).toBeGreaterThanOrEqual(planned.freedBytes);
        const isDistinct = new Set(texts).size === texts.length;
        expect(isDistinct ? freed : planned.freedBytes).toBe(planned.freedBytes);
        const blobs = checkpointBlobs(root);
        for (const [digest, text] of needed) expect(blobs.read(digest)).toEqual(text);
        expect(sweepBlobs(root, isCited, aMinuteAgo())).toEqual({ removed: 0, freedBytes: 0 });
        fs.rmSync(root, { recursive: true, force: true });
      }),
      { numRuns: 50 },
    );
  });
});
