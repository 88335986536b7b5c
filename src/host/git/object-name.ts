/** Name of a git object. */
import { createHash } from 'node:crypto';

/** Returns git's object name of the contents, with the hash algorithm of `like`. */
export const objectName = (bytes: Uint8Array, like: string): string =>
  createHash(like.length === 64 ? 'sha256' : 'sha1')
    .update(`blob ${bytes.length}\0`)
    .update(bytes)
    .digest('hex');
