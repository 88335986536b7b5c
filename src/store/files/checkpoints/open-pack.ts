/** Writes the contents of many checkpoint blobs into a single file, readable after it is sealed. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { StorageError } from '../../../protocol/skein-error.js';
import { storageError } from '../../shared/storage-error.js';
import { BLOB_DIGEST, encodeIndex, type PackEntry, packsFolder } from './pack-index.js';

/** Contents are written in chunks of this size, because many small writes are slow. */
const CHUNK_BYTES = 1024 * 1024;

/**
 * A pack that is being written. No reader sees its contents before `close`, and a process that dies
 * leaves only a draft, which `sweepBlobs` removes.
 */
export interface PackDraft {
  /**
   * Appends the contents of a blob, unless the draft has the digest. `digest` is the SHA-256 of the
   * bytes in hex, which is not checked. The bytes may be changed after the call. Throws StorageError.
   */
  add(digest: string, bytes: Uint8Array): void;
  /**
   * Seals the pack: its contents are on disk and readable. A draft without contents leaves no file.
   * Throws StorageError, also if an earlier `add` did; the draft is removed then.
   */
  close(): void;
  /** Removes the draft. Does nothing after `close`. Never throws. */
  discard(): void;
}

/** `root` is the `checkpoints` folder of the state directory. Writes nothing until contents are added. */
export const openPack = (root: string): PackDraft => {
  const folder = packsFolder(root);
  return new DraftFile(join(folder, `.skein-${randomBytes(8).toString('hex')}.tmp`));
};

class DraftFile implements PackDraft {
  private readonly path: string;
  private readonly entries = new Map<string, PackEntry>();
  private readonly chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  /** Bytes of the chunk that are not written yet. */
  private pending = 0;
  /** Bytes of all contents, including pending contents. */
  private size = 0;
  private fd: number | undefined;
  /** Why contents can no longer be added. */
  private end: StorageError | 'closed' | undefined;

  constructor(path: string) {
    this.path = path;
  }

  add(digest: string, bytes: Uint8Array): void {
    if (!BLOB_DIGEST.test(digest)) throw new RangeError(`${digest} is not a digest`);
    if (this.entries.has(digest)) return;
    const { length } = bytes;
    this.attempt(() => {
      if (this.pending + length > CHUNK_BYTES) this.flush();
      if (length > CHUNK_BYTES) this.write(bytes);
      else this.chunk.set(bytes, this.pending);
    });
    if (length <= CHUNK_BYTES) this.pending += length;
    this.entries.set(digest, { digest, offset: this.size, length });
    this.size += length;
  }

  close(): void {
    if (this.entries.size === 0) this.discard();
    if (this.end === 'closed') return;
    this.attempt(() => {
      this.flush();
      const { bytes, name } = encodeIndex([...this.entries.values()], this.size);
      const fd = this.write(bytes);
      fs.fsyncSync(fd);
      this.fd = undefined;
      fs.closeSync(fd);
      fs.renameSync(this.path, join(dirname(this.path), name));
    });
    this.end = 'closed';
    syncFolder(dirname(this.path));
  }

  discard(): void {
    if (this.end === undefined) this.remove();
    this.end ??= 'closed';
  }

  private attempt(work: () => void): void {
    if (this.end === 'closed') throw new Error('The pack is closed.');
    if (this.end !== undefined) throw this.end;
    try {
      work();
    } catch (error) {
      this.end = storageError(error, this.path);
      this.remove();
      throw this.end;
    }
  }

  private flush(): void {
    if (this.pending > 0) this.write(this.chunk.subarray(0, this.pending));
    this.pending = 0;
  }

  private write(bytes: Uint8Array): number {
    this.fd ??= this.create();
    let written = 0;
    while (written < bytes.length) {
      written += fs.writeSync(this.fd, bytes, written, bytes.length - written);
    }
    return this.fd;
  }

  private create(): number {
    fs.mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    return fs.openSync(this.path, 'wx', 0o600);
  }

  private remove(): void {
    const { fd } = this;
    this.fd = undefined;
    try {
      try {
        if (fd !== undefined) fs.closeSync(fd);
      } finally {
        fs.rmSync(this.path, { force: true });
      }
    } catch {
      // The sweep removes a draft that stays.
    }
  }
}

const syncFolder = (path: string): void => {
  try {
    const fd = fs.openSync(path, 'r');
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    // Some file systems cannot sync a folder. The contents themselves are on disk.
  }
};
