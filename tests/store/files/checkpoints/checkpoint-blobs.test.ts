import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkpointBlobs } from '../../../../src/store/files/checkpoints/checkpoint-blobs.js';
import { temporaryFolder } from '../../session-folder.js';

const bytes = (text: string) => Buffer.from(text);

const setUp = () => {
  const root = join(temporaryFolder(), 'checkpoints');
  const pathOf = (digest: string) => join(root, digest.slice(0, 2), digest.slice(2));
  const files = () =>
    (fs.readdirSync(root, { recursive: true }) as string[]).filter((name) => name.includes('/'));
  return { root, pathOf, files, blobs: checkpointBlobs(root) };
};

describe('checkpoint blobs', () => {
  test('are read as they were written, with any bytes', () => {
    const { blobs } = setUp();
    for (const text of ['', 'text', '\u0000\u00ff\n']) {
      expect(blobs.read(blobs.put(bytes(text)))).toEqual(bytes(text));
    }
  });

  test('are stored once, readable by the owner only', () => {
    const { blobs, root, pathOf, files } = setUp();
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
      'a folder',
      (path: string) => {
        fs.rmSync(path);
        fs.mkdirSync(path);
      },
      'cannot be read',
    ],
  ])('are not returned if their file is %s', (_, spoil, reason) => {
    const { blobs, pathOf } = setUp();
    const digest = blobs.put(bytes('good'));
    spoil(pathOf(digest));
    expect(blobs.read(digest)).toEqual({ reason: expect.stringContaining(reason) });
  });

  test('that were truncated are written again', () => {
    const { blobs, root, pathOf } = setUp();
    const digest = blobs.put(bytes('whole'));
    fs.writeFileSync(pathOf(digest), 'wh');
    checkpointBlobs(root).put(bytes('whole'));
    expect(blobs.read(digest)).toEqual(bytes('whole'));
  });

  test('keep a current date while they are in use', () => {
    const { blobs, root, pathOf } = setUp();
    const path = pathOf(blobs.put(bytes('used')));
    const find = {
      has: () => checkpointBlobs(root).has(path.slice(root.length).replaceAll('/', '')),
      put: () => checkpointBlobs(root).put(bytes('used')),
    };
    for (const use of [find.has, find.put]) {
      fs.utimesSync(path, 1, 1);
      use();
      expect(fs.statSync(path).mtimeMs).toBeGreaterThan(Date.now() - 3_600_000);
    }
  });

  test.each(['../../etc/passwd', '', 'A'.repeat(64), `${'a'.repeat(63)}/`])(
    'do not have the digest %j',
    (name) => {
      const { blobs } = setUp();
      expect(blobs.has(name)).toBe(false);
      expect(blobs.read(name)).toEqual({ reason: expect.any(String) });
    },
  );
});
