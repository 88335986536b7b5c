/**
 * What a child reads as its input, as a file that nobody else can find: a child that never reads it
 * holds nobody up, and unlike Node's sockets it can be opened again as /dev/stdin.
 */
import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** To be closed once the child has it. */
export const openInput = async (text: string): Promise<FileHandle> => {
  const directory = await mkdtemp(join(tmpdir(), 'skein-input-'));
  try {
    const path = join(directory, 'input');
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    return await open(path, 'r');
  } finally {
    await rm(directory, { recursive: true, force: true }).catch(() => undefined);
  }
};
