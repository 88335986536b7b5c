import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  blobDigest,
  checkpointBlobs,
  sweepBlobs,
} from '../../../src/store/files/checkpoint-blobs.js';
import { temporaryFolder } from '../session-folder.js';

const bytes = (text: string) => Buffer.from(text);

const place = () => {
  const root = join(temporaryFolder(), 'checkpoints');
  const pathOf = (digest: string) => join(root, digest.slice(0, 2), digest.slice(2));
  const files = () =>
    (fs.readdirSync(root, { recursive: true }) as string[]).filter((name) => name.includes('/'));
  return { root, pathOf, files, blobs: checkpointBlobs(root) };
};

describe('contents by their digest', () => {
  test('are given back as they were, whatever they hold', () => {
    const { blobs } = place();
    for (const text of ['', 'text', '\u0000\u00ff\n']) {
      expect(blobs.read(blobs.put(bytes(text)))).toEqual(bytes(text));
    }
  });

  test('are kept once, closed to others', () => {
    const { blobs, root, pathOf, files } = place();
    const digest = blobs.put(bytes('same'));
    expect(checkpointBlobs(root).put(bytes('same'))).toBe(digest);
    expect(files()).toHaveLength(1);
    expect(fs.statSync(pathOf(digest)).mode & 0o777).toBe(0o600);
    expect(fs.statSync(join(pathOf(digest), '..')).mode & 0o777).toBe(0o700);
  });

  test.each([
    ['damaged', (path: string) => fs.writeFileSync(path, 'evil'), 'damaged'],
    ['gone', (path: string) => fs.rmSync(path), 'gone'],
    [
      'a pipe',
      (path: string) => {
        fs.rmSync(path);
        fs.mkdirSync(path);
      },
      'cannot be read',
    ],
  ])('are never given out when they are %s', (_, spoil, trouble) => {
    const { blobs, pathOf } = place();
    const digest = blobs.put(bytes('good'));
    spoil(pathOf(digest));
    expect(blobs.read(digest)).toEqual({ trouble: expect.stringContaining(trouble) });
  });

  test('that were cut short are written again', () => {
    const { blobs, root, pathOf } = place();
    const digest = blobs.put(bytes('whole'));
    fs.writeFileSync(pathOf(digest), 'wh');
    checkpointBlobs(root).put(bytes('whole'));
    expect(blobs.read(digest)).toEqual(bytes('whole'));
  });

  test.each(['../../etc/passwd', '', 'A'.repeat(64), `${'a'.repeat(63)}/`])(
    'have no such name as %j',
    (name) => {
      const { blobs } = place();
      expect(blobs.has(name)).toBe(false);
      expect(blobs.read(name)).toEqual({ trouble: expect.any(String) });
    },
  );
});

describe('sweeping contents away', () => {
  test('takes what nobody cites and what is not young', () => {
    const { root, blobs, pathOf } = place();
    const [cited, old, young] = ['cited', 'old', 'young'].map((text) => blobs.put(bytes(text)));
    for (const digest of [cited, old]) fs.utimesSync(pathOf(digest ?? ''), 1, 1);
    const before = Date.now() - 60_000;
    expect(sweepBlobs(root, (digest) => digest === cited, before, true).removed).toBe(1);
    expect(sweepBlobs(root, (digest) => digest === cited, before)).toEqual({
      removed: 1,
      freedBytes: 3,
    });
    expect([cited, old, young].map((digest) => fs.existsSync(pathOf(digest ?? '')))).toEqual([
      true,
      false,
      true,
    ]);
    expect(blobDigest(bytes('old'))).toBe(old);
  });

  test('finds nothing where nothing was ever kept', () => {
    expect(sweepBlobs('/no/such/folder', () => false, Date.now()).removed).toBe(0);
  });
});
