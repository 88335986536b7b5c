/**
 * Workspace port on the real disk. Opens regular files only, because a pipe or a device could
 * block.
 */

import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  read as readCallback,
  readSync,
  statSync,
} from 'node:fs';
import { access, lstat, readlink, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { KeyedMutex } from '../../lib/async/keyed-mutex.js';
import { replaceFileDurably } from '../../lib/replace-file.js';
import {
  FileError,
  type FileStamp,
  type FileStat,
  type Workspace,
} from '../../protocol/tools/workspace.js';
import { resolveLanding } from './file-contents.js';
import { errorCode, fileError } from './file-error.js';
import {
  type AcceptsPath,
  checkDescriptor,
  type PinnedFolder,
  pinFolder,
} from './pinned-folder.js';

/** Serializes writes per path, so that only one of two concurrent agents in this process succeeds. */
const writes = new KeyedMutex();

export const diskWorkspace = (
  home: string = homedir(),
  accepts: AcceptsPath = () => true,
): Workspace => ({
  resolve(path) {
    if (path === '~') return resolve(home);
    return path.startsWith('~/') ? join(resolve(home), path.slice(2)) : resolve(path);
  },
  read: (path, maxBytes) => withFileErrors(path, () => readWhole(path, maxBytes, accepts)),
  stat: (path) => withFileErrors(path, () => statOf(path)),
  write: (path, bytes, expected) =>
    withFileErrors(path, async () => {
      const target = await followLinks(path);
      return writes.run(target, () => writeExpecting(target, bytes, expected, accepts));
    }),
  landing: (path) => resolveLanding(path).path,
  judgedBy: (judge) => diskWorkspace(home, judge),
});

/** Converts errors to FileError with the caller's path instead of a `/proc/self/fd` path. */
const withFileErrors = async <Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    const converted = fileError(error, path);
    throw converted.path.startsWith('/proc/self/fd/')
      ? new FileError(converted.why, path, { cause: converted.cause ?? converted })
      : converted;
  }
};

const statOf = async (path: string): Promise<FileStat | undefined> => {
  try {
    const stats = await stat(path);
    const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other';
    return { kind, size: stats.size, mtimeMs: stats.mtimeMs };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
};

/** Reads synchronously where possible, because each asynchronous call costs more than a short read. */
const readWhole = async (path: string, maxBytes: number, accepts: AcceptsPath = () => true) => {
  refuseIrregular(path);
  // Non-blocking, because the path may have become a pipe since the check above.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    checkDescriptor(fd, path, accepts);
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new FileError('not-a-file', path);
    const { size, mtimeMs } = stats;
    if (size > maxBytes) throw new FileError('too-large', path);
    const bytes = await readToEnd(fd, size, maxBytes);
    if (bytes === undefined) throw new FileError('too-large', path);
    return { bytes, stamp: stampOf(bytes, mtimeMs) };
  } finally {
    closeSync(fd);
  }
};

const MAX_SYNC_READ_BYTES = 256 * 1_024;
const readAsync = promisify(readCallback);

/** Treats `size` as a hint, because files grow and /proc reports 0. Returns undefined over the limit. */
const readToEnd = async (fd: number, size: number, maxBytes: number) => {
  let buffer = Buffer.allocUnsafe(Math.max(size + 1, 4_096));
  let length = 0;
  for (;;) {
    if (length === buffer.length) buffer = Buffer.concat([buffer], length * 2);
    const room = buffer.length - length;
    const bytesRead =
      room <= MAX_SYNC_READ_BYTES
        ? readSync(fd, buffer, length, room, null)
        : (await readAsync(fd, buffer, length, room, null)).bytesRead;
    length += bytesRead;
    if (length > maxBytes) return undefined;
    // A read that returns the expected size and leaves the buffer unfilled reached the end.
    const isEnd = bytesRead === 0 || (size > 0 && length >= size && length < buffer.length);
    if (isEnd) return buffer.subarray(0, length);
  }
};

const refuseIrregular = (path: string) => {
  const stats = statSync(path);
  if (stats.isDirectory()) throw new FileError('directory', path);
  if (!stats.isFile()) throw new FileError('not-a-file', path);
};

const writeExpecting = async (
  target: string,
  bytes: Uint8Array,
  expected: FileStamp | 'absent' | undefined,
  accepts: AcceptsPath,
): Promise<FileStamp> => {
  if (!accepts(target)) throw new FileError('moved', target);
  const folder = await pinFolder(target, accepts);
  try {
    return await writeInto(folder, basename(target), bytes, expected);
  } finally {
    await folder.close();
  }
};

const writeInto = async (
  folder: PinnedFolder,
  name: string,
  bytes: Uint8Array,
  expected: FileStamp | 'absent' | undefined,
): Promise<FileStamp> => {
  const target = folder.at(name);
  const existing = await lstat(target).catch(() => undefined);
  // All links were resolved before, so this link is new.
  if (existing?.isSymbolicLink() === true) throw new FileError('moved', target);
  if (existing !== undefined) refuseIrregular(target);
  if (expected === 'absent' && existing !== undefined) throw new FileError('changed', target);
  if (expected !== undefined && expected !== 'absent') await refuseChanged(target, expected);
  if (existing !== undefined) await access(target, constants.W_OK);
  await folder.check();
  await replaceFileDurably(target, bytes, {
    mode: 0o666,
    keepsOwnerAndMode: true,
    mustBeNew: expected === 'absent',
  }).catch((error: unknown) => {
    throw errorCode(error) === 'EEXIST'
      ? new FileError('changed', target, { cause: error })
      : error;
  });
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
  digest: hash('sha256', bytes),
  mtimeMs,
  size: bytes.length,
});

const MAX_LINK_HOPS = 40;

/** Returns the path behind all symbolic links, even if its last part does not exist yet. */
const followLinks = async (path: string, hops = 0): Promise<string> => {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || hops === MAX_LINK_HOPS) throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const folder = await followLinks(parent, hops);
  const link = await readlink(join(folder, basename(path))).catch(() => undefined);
  if (link === undefined) return join(folder, basename(path));
  // Not normalized, because `..` after a link means the parent of the link's target.
  return followLinks(isAbsolute(link) ? link : `${folder}/${link}`, hops + 1);
};
