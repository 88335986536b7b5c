/**
 * Pinned folders: folders held open by a descriptor during a write. A path may point elsewhere at
 * any moment, a descriptor does not, so access rules are checked against the descriptor.
 */
import { constants, fstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FileError } from '../../protocol/tools/workspace.js';
import { errorCode } from './file-error.js';

/** True if the access rules accept this real path. */
export type AcceptsPath = (path: string) => boolean;

/** On Linux `/proc/self/fd` gives the real path of a descriptor and can be used as a path. */
const HAS_DESCRIPTOR_NAMES = process.platform === 'linux';

/** Throws FileError 'moved' if the opened file is at a path that the rules do not accept. */
export const checkDescriptor = (fd: number, path: string, accepts: AcceptsPath): void => {
  if (!accepts(realPathOf(fd, path))) throw new FileError('moved', path);
};

/** Returns the real path of a descriptor. Outside of Linux, resolves `path` and checks that it is the open file. */
const realPathOf = (fd: number, path: string): string => {
  if (HAS_DESCRIPTOR_NAMES) return readlinkSync(`/proc/self/fd/${fd}`);
  const realPath = realpathSync.native(path);
  const [atPath, opened] = [statSync(realPath), fstatSync(fd)];
  if (atPath.dev !== opened.dev || atPath.ino !== opened.ino) throw new FileError('moved', path);
  return realPath;
};

export interface PinnedFolder {
  /** Returns a path to a name in this folder, through the descriptor where possible. */
  at(name: string): string;
  /** Rejects with FileError 'moved' if the folder is no longer at an accepted path. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the folder of `target`, and creates it if the rules accept the file there. Rejects with FileError 'moved'. */
export const pinFolder = async (target: string, accepts: AcceptsPath): Promise<PinnedFolder> => {
  const directory = dirname(target);
  const handle = await openOrMake(directory, [basename(target)], accepts);
  const byName = { at: (name: string) => join(directory, name) };
  const check = async () => {
    const realPath = realPathOf(handle.fd, directory);
    if (!accepts(join(realPath, basename(target)))) throw new FileError('moved', target);
  };
  try {
    await check();
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    ...(HAS_DESCRIPTOR_NAMES ? { at: (name) => `/proc/self/fd/${handle.fd}/${name}` } : byName),
    check,
    close: () => handle.close(),
  };
};

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/** `rest` is the path of the file below the directory. */
const openOrMake = async (
  directory: string,
  rest: readonly string[],
  accepts: AcceptsPath,
): Promise<FileHandle> => {
  try {
    return await open(directory, FOLDER);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(directory) === directory) throw error;
  }
  const name = basename(directory);
  const parent = await openOrMake(dirname(directory), [name, ...rest], accepts);
  try {
    const parentPath = realPathOf(parent.fd, dirname(directory));
    if (!accepts(join(parentPath, name, ...rest)))
      throw new FileError('moved', join(directory, ...rest));
    const target = HAS_DESCRIPTOR_NAMES ? `/proc/self/fd/${parent.fd}/${name}` : directory;
    await mkdir(target).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    return await open(target, FOLDER | constants.O_NOFOLLOW);
  } finally {
    await parent.close();
  }
};
