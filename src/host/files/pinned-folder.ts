/**
 * Places that cannot change their meaning any more: what a descriptor really has open, and a folder
 * that is held open while something is written into it. A name may lead elsewhere from one moment to
 * the next; a descriptor does not.
 */
import { constants, fstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FileError } from '../../protocol/tools/workspace.js';
import { errorCode } from './file-error.js';

/** Whether the rules let this very place be used. */
export type AcceptsPath = (place: string) => boolean;

/** Linux names what a descriptor has open, and takes such a name for the thing itself. */
const HAS_DESCRIPTOR_NAMES = process.platform === 'linux';

/** Throws as 'moved' what leads to another place than the rules accept. */
export const checkDescriptor = (fd: number, path: string, accepts: AcceptsPath): void => {
  if (!accepts(placeOf(fd, path))) throw new FileError('moved', path);
};

/** Elsewhere than on Linux the name is followed again, and must still lead to what is open. */
const placeOf = (fd: number, path: string): string => {
  if (HAS_DESCRIPTOR_NAMES) return readlinkSync(`/proc/self/fd/${fd}`);
  const place = realpathSync.native(path);
  const [there, here] = [statSync(place), fstatSync(fd)];
  if (there.dev !== here.dev || there.ino !== here.ino) throw new FileError('moved', path);
  return place;
};

/** A folder that is held open. */
export interface PinnedFolder {
  /** A path to a name in this folder, wherever the folder's own name leads by now. */
  at(name: string): string;
  /** Where it was made sure of by name only, it must still be the same folder. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the folder of a file that is about to be written, and makes it when it is missing. Nothing is
 * made in a place that the rules do not accept for that file.
 */
export const pinFolder = async (target: string, accepts: AcceptsPath): Promise<PinnedFolder> => {
  const directory = dirname(target);
  const handle = await openOrMake(directory, [basename(target)], accepts);
  const byName = { at: (name: string) => join(directory, name) };
  const check = async () => {
    const place = placeOf(handle.fd, directory);
    if (!accepts(join(place, basename(target)))) throw new FileError('moved', target);
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

/** `rest`: the names below it that the file will have. */
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
    const place = placeOf(parent.fd, dirname(directory));
    if (!accepts(join(place, name, ...rest)))
      throw new FileError('moved', join(directory, ...rest));
    const made = HAS_DESCRIPTOR_NAMES ? `/proc/self/fd/${parent.fd}/${name}` : directory;
    await mkdir(made).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    return await open(made, FOLDER | constants.O_NOFOLLOW);
  } finally {
    await parent.close();
  }
};
