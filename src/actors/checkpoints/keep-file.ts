/** Keeps the present version of a single file. */
import { readContents } from '../../host/files/file-contents.js';
import type { Blobs, FileState } from '../../protocol/session/checkpoints.js';

/** Stores the content in a blob and returns the state. Throws StorageError. */
export const keepFile = (path: string, blobs: Blobs, maxFileBytes: number): FileState => {
  const contents = readContents(path, maxFileBytes);
  if ('absent' in contents) return { kind: 'absent' };
  if ('why' in contents) return { kind: 'unknown', why: contents.why };
  const { mode, kind } = contents.entry;
  if (!('bytes' in contents) || kind === 'directory') return { kind: 'directory', mode };
  return { kind, mode, digest: blobs.put(contents.bytes) };
};
