import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const canMount = process.platform === 'linux' && process.getuid?.() === 0;

/**
 * Runs the fixture in its own mount namespace, after the commands in `mounts`. `$D` is the folder.
 */
const writeOnDisk = async (mounts: string, size: number) => {
  const directory = await mkdtemp(join(tmpdir(), 'skein-disk-'));
  const script = `set -e; D=$1; shift; ${mounts}; exec "$@"`;
  const program = [process.execPath, '--import', 'tsx', 'tests/host/fixtures/write-there.ts'];
  const args = [join(directory, 'a.txt'), String(size)];
  try {
    const run = promisify(execFile)('unshare', [
      '-m',
      'sh',
      '-c',
      script,
      'sh',
      directory,
      ...program,
      ...args,
    ]);
    return JSON.parse((await run).stdout);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

const rule = canMount ? {} : { skip: true, meta: { skipped: 'mounts need root on Linux' } };

describe('a disk that refuses writes', rule, () => {
  test('is reported as read-only, and the file stays unchanged', async () => {
    const mounts = 'mount --bind "$D" "$D"; printf old > "$D/a.txt"; mount -o remount,ro,bind "$D"';
    expect(await writeOnDisk(mounts, 10)).toEqual({
      why: 'read-only',
      content: 'old',
      files: ['a.txt'],
      kept: 'read-only',
    });
  });

  test('is reported as full, the old file stays, and no partial file is left', async () => {
    const mounts = 'mount -t tmpfs -o size=64k none "$D"; printf old > "$D/a.txt"';
    expect(await writeOnDisk(mounts, 1_000_000)).toEqual({
      why: 'full',
      content: 'old',
      files: ['a.txt'],
      kept: 'full',
    });
  });
});
