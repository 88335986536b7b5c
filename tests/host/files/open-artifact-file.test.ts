import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openArtifactFile } from '../../../src/host/files/open-artifact-file.js';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skein-artifact-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const keep = async (limit: number | undefined, ...chunks: readonly string[]) => {
  const artifact = openArtifactFile(join(directory, 'artifacts'), 'output.txt', limit);
  for (const chunk of chunks) artifact.write(Buffer.from(chunk));
  await artifact.close();
  return artifact.path;
};

describe('an artifact file', () => {
  test('holds the written text, and only its owner may read it', async () => {
    const path = await keep(undefined, 'one ', 'two');
    expect(await readFile(path, 'utf8')).toBe('one two');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
  });

  test('gets a number if its name is already used', async () => {
    const paths = [
      await keep(undefined, 'a'),
      await keep(undefined, 'b'),
      await keep(undefined, 'c'),
    ];
    expect(paths.map((path) => path.slice(path.lastIndexOf('/') + 1))).toEqual([
      'output.txt',
      'output-2.txt',
      'output-3.txt',
    ]);
  });

  test('stops at its limit and adds a notice once', async () => {
    const path = await keep(10, '12345678', 'abcdef', 'more');
    expect(await readFile(path, 'utf8')).toBe(
      '12345678ab\n[The output continued, but this file is full.]\n',
    );
  });

  test('is complete if it fits exactly', async () => {
    expect(await readFile(await keep(10, '12345', '67890'), 'utf8')).toBe('1234567890');
  });

  test('rejects on close if the disk refused it', async () => {
    await writeFile(join(directory, 'artifacts'), 'a file in the way');
    await expect(keep(undefined, 'lost')).rejects.toMatchObject({ why: 'io' });
  });
});
