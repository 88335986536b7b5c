/** Writes a small file all or nothing: a temporary file beside it, synced and renamed over it. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../../protocol/errors.js';
import { realPath } from './real-path.js';

/** A symbolic link is followed. Folders that are missing are made, closed to others. */
export const writeAtomically = (path: string, text: string, mode = 0o600): void => {
  const target = realPath(path);
  const draft = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    const file = openSync(draft, 'wx', mode);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, target);
  } catch (cause) {
    rmSync(draft, { force: true });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`Cannot write ${path}: ${reason}. Make its folder writable.`, { cause });
  }
};
