/** Replaces files of a store atomically, and reports a refusing disk as a StorageError. */
import { replaceFile, replaceFileDurably } from '../../../lib/replace-file.js';
import { storageError } from '../../shared/storage-error.js';

/** Replaces a file that may be lost at a power cut. Throws StorageError. */
export const replaceStoredFile = (path: string, content: string | Uint8Array): void => {
  try {
    replaceFile(path, content);
  } catch (error) {
    throw storageError(error, path);
  }
};

/** Replaces a file that must survive a power cut. Rejects with StorageError. */
export const replaceStoredFileDurably = async (
  path: string,
  content: string | Uint8Array,
): Promise<void> => {
  try {
    await replaceFileDurably(path, content);
  } catch (error) {
    throw storageError(error, path);
  }
};
