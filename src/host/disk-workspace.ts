/** The Workspace port on the real disk. Only regular files: a pipe or a device could block for ever. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { FileError, type FileStamp, type FileStat, type Workspace } from '../protocol/tool.js';
import { writeAtomically } from './atomic-write.js';
import { errorCode, fileError } from './file-errors.js';
import { takeTurn } from './path-turns.js';

export const diskWorkspace = (home: string = homedir()): Workspace => ({
  resolve(path) {
    if (path === '~') return resolve(home);
    return path.startsWith('~/') ? join(resolve(home), path.slice(2)) : resolve(path);
  },
  read: (path, maxBytes) => asFileErrors(path, () => readWhole(path, maxBytes)),
  stat: (path) => asFileErrors(path, () => statOf(path)),
  write: (path, bytes, expected) =>
    asFileErrors(path, async () => {
      const target = await followLinks(path);
      return takeTurn(target, () => writeExpecting(target, bytes, expected));
    }),
});

const asFileErrors = async <Result>(path: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw fileError(error, path);
  }
};

const statOf = async (path: string): Promise<FileStat | undefined> => {
  try {
    const found = await stat(path);
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other';
    return { kind, size: found.size, mtimeMs: found.mtimeMs };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
};

const readWhole = async (path: string, maxBytes: number) => {
  await refuseIrregular(path);
  // Not blocking, in case something else took the path since it was looked at.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size, mtimeMs } = await handle.stat();
    if (size > maxBytes) throw new FileError('too-large', path);
    const bytes = await readToEnd(handle, size, maxBytes);
    if (bytes === undefined) throw new FileError('too-large', path);
    return { bytes, stamp: stampOf(bytes, mtimeMs) };
  } finally {
    await handle.close();
  }
};

/** The size is a hint: files grow, and those of /proc claim to be empty. Undefined when over the limit. */
const readToEnd = async (handle: FileHandle, size: number, maxBytes: number) => {
  let buffer = Buffer.allocUnsafe(Math.max(size + 1, 4_096));
  let length = 0;
  for (;;) {
    if (length === buffer.length) buffer = Buffer.concat([buffer], length * 2);
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
    length += bytesRead;
    if (length > maxBytes) return undefined;
    // All of the size is there and the buffer had room for more: this was the end.
    const isEnd = bytesRead === 0 || (size > 0 && length >= size && length < buffer.length);
    if (isEnd) return buffer.subarray(0, length);
  }
};

const refuseIrregular = async (path: string) => {
  const found = await stat(path);
  if (found.isDirectory()) throw new FileError('directory', path);
  if (!found.isFile()) throw new FileError('not-a-file', path);
};

const writeExpecting = async (
  target: string,
  bytes: Uint8Array,
  expected: FileStamp | 'absent' | undefined,
): Promise<FileStamp> => {
  const there = await statOf(target);
  if (there !== undefined) await refuseIrregular(target);
  if (expected === 'absent' && there !== undefined) throw new FileError('changed', target);
  if (expected !== undefined && expected !== 'absent') await refuseChanged(target, expected);
  await mkdir(dirname(target), { recursive: true });
  await writeAtomically(target, bytes, { mustBeNew: expected === 'absent' });
  return stampOf(bytes, (await stat(target)).mtimeMs);
};

const refuseChanged = async (target: string, expected: FileStamp) => {
  const { stamp } = await readWhole(target, expected.size).catch((error: unknown) => {
    const why = fileError(error, target).why;
    throw why === 'missing' || why === 'too-large' ? new FileError('changed', target) : error;
  });
  if (stamp.digest !== expected.digest) throw new FileError('changed', target);
};

const stampOf = (bytes: Uint8Array, mtimeMs: number): FileStamp => ({
  digest: createHash('sha256').update(bytes).digest('hex'),
  mtimeMs,
  size: bytes.length,
});

const MOST_LINKS = 40;

/** Where a write must land: the end of the links, also when there is nothing there yet. */
const followLinks = async (path: string, hops = 0): Promise<string> => {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || hops === MOST_LINKS) throw error;
    const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
    return isLink ? followLinks(resolve(dirname(path), await readlink(path)), hops + 1) : path;
  }
};
