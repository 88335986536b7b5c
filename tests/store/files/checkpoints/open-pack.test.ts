import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { StorageError } from '../../../../src/protocol/skein-error.js';
import {
  blobDigest,
  checkpointBlobs,
} from '../../../../src/store/files/checkpoints/checkpoint-blobs.js';
import { openPack } from '../../../../src/store/files/checkpoints/open-pack.js';
import { packOverhead } from '../../../../src/store/files/checkpoints/pack-index.js';
import { temporaryFolder } from '../../session-folder.js';

const setUp = () => {
  const root = join(temporaryFolder(), 'checkpoints');
  const files = () => fs.readdirSync(root, { recursive: true, encoding: 'utf8' });
  return { root, files };
};

const [first, second] = [Buffer.from('first'), Buffer.from('second')];

describe('a pack', () => {
  test('has one file, readable by the owner only', () => {
    const { root, files } = setUp();
    const pack = openPack(root);
    for (const bytes of [first, second, first]) pack.add(blobDigest(bytes), bytes);
    pack.close();
    const [folder = '', file = '', ...rest] = files();
    expect([folder, rest]).toEqual(['packs', []]);
    expect(file).toMatch(/^packs\/[0-9a-f]{32}\.pack$/);
    expect(fs.statSync(join(root, folder)).mode & 0o777).toBe(0o700);
    expect(fs.statSync(join(root, file)).mode & 0o777).toBe(0o600);
    expect(fs.statSync(join(root, file)).size).toBe('firstsecond'.length + packOverhead(2));
  });

  test('is not readable before it is sealed, then also by open readers', () => {
    const { root } = setUp();
    const blobs = checkpointBlobs(root);
    const pack = openPack(root);
    const digest = blobDigest(first);
    pack.add(digest, first);
    expect([blobs.has(digest), 'reason' in blobs.read(digest)]).toEqual([false, true]);
    pack.close();
    expect([blobs.has(digest), blobs.read(digest)]).toEqual([true, first]);
  });

  test('leaves no file without contents, or if it was discarded', () => {
    const { root, files } = setUp();
    openPack(root).close();
    expect(fs.existsSync(root)).toBe(false);
    const pack = openPack(root);
    const large = Buffer.alloc(3 * 1024 * 1024);
    pack.add(blobDigest(large), large);
    expect(files()).toHaveLength(2);
    pack.discard();
    pack.close();
    expect(files()).toEqual(['packs']);
    expect(() => pack.add(blobDigest(first), first)).toThrow('closed');
  });

  test('that cannot be written fails with StorageError and leaves no draft', () => {
    const { root, files } = setUp();
    const pack = openPack(root);
    const large = Buffer.alloc(3 * 1024 * 1024);
    pack.add(blobDigest(large), large);
    for (const draft of files().filter((name) => name.includes('/'))) fs.rmSync(join(root, draft));
    expect(() => pack.close()).toThrow(StorageError);
    expect(() => pack.close()).toThrow(StorageError);
    expect(() => pack.add(blobDigest(first), first)).toThrow(StorageError);
    pack.discard();
    expect(files()).toEqual(['packs']);
  });
});
