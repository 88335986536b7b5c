/** Replaces a file atomically: readers see the old content or the new content, never a part of it. */
import { randomBytes } from 'node:crypto';
import nodeFs, { type Stats } from 'node:fs';
import { dirname, join } from 'node:path';

export interface ReplaceOptions {
  /** Mode of the new file, before the umask. Default: 0o600. */
  readonly mode?: number;
  /** Gives the new file the owner and mode of the file that it replaces. Default: false. */
  readonly keepsOwnerAndMode?: boolean;
  /** Fails with the code `EEXIST` if the path exists. Default: false. */
  readonly mustBeNew?: boolean;
}

/** Functions of `node:fs` that are used here. Tests pass their own. */
export type ReplaceFs = Pick<
  typeof nodeFs,
  | 'openSync'
  | 'writeFileSync'
  | 'fstatSync'
  | 'fchownSync'
  | 'fchmodSync'
  | 'fsync'
  | 'fsyncSync'
  | 'closeSync'
  | 'statSync'
  | 'renameSync'
  | 'linkSync'
  | 'rmSync'
>;

/**
 * Replaces a file that may be lost at a power cut. Without fsync a power cut can leave an empty file.
 * A symbolic link at the path is replaced, not followed. Throws the error of `node:fs`.
 */
export const replaceFile = (
  path: string,
  content: string | Uint8Array,
  options: ReplaceOptions = {},
  fs: ReplaceFs = nodeFs,
): void => {
  finish(createTemporary(path, content, options, fs), path, options, fs);
};

/**
 * Replaces a file that must survive a power cut: fsyncs the content before the rename and the directory
 * after it. A symbolic link at the path is replaced, not followed. Rejects with the error of `node:fs`.
 * Concurrent calls for the same path finish in any order.
 */
export const replaceFileDurably = async (
  path: string,
  content: string | Uint8Array,
  options: ReplaceOptions = {},
  fs: ReplaceFs = nodeFs,
): Promise<void> => {
  const temporary = createTemporary(path, content, options, fs);
  try {
    await fsync(temporary.fd, fs);
  } catch (error) {
    discard(temporary, fs);
    throw error;
  }
  finish(temporary, path, options, fs);
  const directory = openDirectory(dirname(path), fs);
  if (directory === undefined) return;
  await fsync(directory, fs).catch(() => {});
  fs.closeSync(directory);
};

/** Does the same as `replaceFileDurably`, but blocks the process until the file is on disk. */
export const replaceFileDurablySync = (
  path: string,
  content: string | Uint8Array,
  options: ReplaceOptions = {},
  fs: ReplaceFs = nodeFs,
): void => {
  const temporary = createTemporary(path, content, options, fs);
  try {
    fs.fsyncSync(temporary.fd);
  } catch (error) {
    discard(temporary, fs);
    throw error;
  }
  finish(temporary, path, options, fs);
  const directory = openDirectory(dirname(path), fs);
  if (directory === undefined) return;
  try {
    fs.fsyncSync(directory);
  } catch {
    // Not every file system can sync a directory. The content itself is on disk.
  } finally {
    fs.closeSync(directory);
  }
};

interface TemporaryFile {
  readonly path: string;
  readonly fd: number;
}

/** Writes the content to a new file in the directory of `path`, and keeps that file open. */
const createTemporary = (
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, keepsOwnerAndMode = false }: ReplaceOptions,
  fs: ReplaceFs,
): TemporaryFile => {
  const old = keepsOwnerAndMode ? fs.statSync(path, { throwIfNoEntry: false }) : undefined;
  const name = `.skein-${randomBytes(8).toString('hex')}.tmp`;
  const temporary = join(dirname(path), name);
  const file = { path: temporary, fd: fs.openSync(temporary, 'wx', mode) };
  try {
    fs.writeFileSync(file.fd, content);
    if (old !== undefined) copyOwnerAndMode(old, file.fd, fs);
    return file;
  } catch (error) {
    discard(file, fs);
    throw error;
  }
};

/** Sets the owner first, because a change of owner clears mode bits. Only root can change the owner. */
const copyOwnerAndMode = (old: Stats, fd: number, fs: ReplaceFs): void => {
  const { uid, gid } = fs.fstatSync(fd);
  if (uid !== old.uid || gid !== old.gid) {
    try {
      fs.fchownSync(fd, old.uid, old.gid);
    } catch {
      // The file then belongs to this user.
    }
  }
  fs.fchmodSync(fd, old.mode & 0o7777);
};

const finish = (
  file: TemporaryFile,
  path: string,
  { mustBeNew = false }: ReplaceOptions,
  fs: ReplaceFs,
): void => {
  try {
    if (mustBeNew) moveToNewPath(file.path, path, fs);
    else fs.renameSync(file.path, path);
  } catch (error) {
    discard(file, fs);
    throw error;
  }
  fs.closeSync(file.fd);
};

/** Links, because a link fails where a rename would replace. Renames where links are not supported. */
const moveToNewPath = (temporary: string, path: string, fs: ReplaceFs): void => {
  try {
    fs.linkSync(temporary, path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes(code)) throw error;
    if (fs.statSync(path, { throwIfNoEntry: false }) !== undefined) {
      throw Object.assign(new Error(`${path} exists`, { cause: error }), { code: 'EEXIST' });
    }
    fs.renameSync(temporary, path);
    return;
  }
  fs.rmSync(temporary, { force: true });
};

const discard = ({ path, fd }: TemporaryFile, fs: ReplaceFs): void => {
  fs.closeSync(fd);
  fs.rmSync(path, { force: true });
};

/** Returns undefined if the directory cannot be opened for reading. */
const openDirectory = (path: string, fs: ReplaceFs): number | undefined => {
  try {
    return fs.openSync(path, 'r');
  } catch {
    return undefined;
  }
};

const fsync = (fd: number, fs: ReplaceFs): Promise<void> =>
  new Promise((resolve, reject) => {
    fs.fsync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
