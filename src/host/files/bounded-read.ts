/** Reads untrusted files: regular files only, and never more than the given number of bytes. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { MAX_SEARCHED_FILE_BYTES } from '../../protocol/tools/file-search.js';

/** Returns undefined if the path is no regular file, has more than `maxBytes` bytes, or cannot be opened. */
export const boundedRead = async (path: string, maxBytes: number): Promise<Buffer | undefined> => {
  const contents = await withFile(path, async (handle, size) => {
    if (size > maxBytes) return undefined;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0);
    return buffer.subarray(0, bytesRead);
  });
  return contents === 'unreadable' ? undefined : contents;
};

export type FileProbe = 'text' | 'binary' | 'too-large' | 'unreadable';

const PROBE_BYTES = 8_192;

/** Returns whether a search may show lines of the file. UTF-16 counts as text. */
export const probeFile = async (path: string): Promise<FileProbe> =>
  withFile(path, async (handle, size) => {
    if (size > MAX_SEARCHED_FILE_BYTES) return 'too-large';
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(PROBE_BYTES), 0, PROBE_BYTES, 0);
    return isBinaryContent(buffer.subarray(0, bytesRead)) ? 'binary' : 'text';
  });

export const isBinaryContent = (start: Buffer): boolean =>
  utf16Encoding(start) === undefined && start.subarray(0, PROBE_BYTES).includes(0);

/** Detects UTF-16 by its byte order mark. UTF-16 without the mark counts as binary. */
export const utf16Encoding = (start: Buffer): 'utf-16le' | 'utf-16be' | undefined => {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  return start[0] === 0xfe && start[1] === 0xff ? 'utf-16be' : undefined;
};

type Handle = Awaited<ReturnType<typeof open>>;

const withFile = async <Result>(
  path: string,
  use: (handle: Handle, size: number) => Promise<Result>,
): Promise<Result | 'unreadable'> => {
  let handle: Handle | undefined;
  try {
    // Non-blocking, because the path may be a pipe.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    return stats.isFile() ? await use(handle, stats.size) : 'unreadable';
  } catch {
    return 'unreadable';
  } finally {
    await handle?.close();
  }
};
