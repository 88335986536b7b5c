/** Writes a small file that belongs to the user: settings, trust, prompt history, reports. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceFileDurablySync } from '../../lib/replace-file.js';
import { UsageError } from '../../protocol/skein-error.js';
import { realPath } from './real-path.js';

/**
 * Replaces the file in one step, on disk when it returns. Follows symbolic links. Creates missing folders,
 * closed to other users. Throws UsageError if the file cannot be written.
 */
export const writeUserFile = (path: string, text: string, mode = 0o600): void => {
  const target = realPath(path);
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    replaceFileDurablySync(target, text, { mode });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`Cannot write ${path}: ${reason}. Make its folder writable.`, { cause });
  }
};
