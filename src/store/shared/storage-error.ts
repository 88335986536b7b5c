/** Turns an error of the file system into a StorageError with advice for the user. */
import { StorageError } from '../../protocol/skein-error.js';

export const storageError = (error: unknown, path: string): StorageError => {
  const { code } = error as NodeJS.ErrnoException;
  const why = WHY[code ?? ''] ?? `it failed with ${code ?? String(error)}`;
  return new StorageError(`Could not write ${path}: ${why}.`, { cause: error });
};

const WHY: Record<string, string> = {
  ENOSPC: 'the disk is full; free some space and resume',
  EDQUOT: 'the disk quota is used up; free some space and resume',
  EROFS: 'the file system is read-only; set SKEIN_HOME to a directory that can be written',
  EACCES: 'permission is denied; check its owner and mode, or set SKEIN_HOME elsewhere',
  EFBIG: 'the file may not grow any further; raise the file size limit and resume',
  EMFILE: 'too many files are open; raise the limit (ulimit -n) and resume',
  ENOENT: 'its directory is gone; was the session deleted while it ran?',
};
