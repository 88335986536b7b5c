/** Stores the blobs of a scan: a few as files of their own, many in a pack. */
import type { Blobs } from '../../../protocol/session/checkpoints.js';
import { blobDigest, checkpointBlobs } from './checkpoint-blobs.js';
import { openPack, type PackDraft } from './open-pack.js';
import { StoredPacks } from './stored-packs.js';

/** Blobs that are readable once the batch is closed. */
export interface BlobBatch {
  /** `digest` is the SHA-256 of the bytes in hex. The bytes may be changed after the call. Throws StorageError. */
  add(digest: string, bytes: Uint8Array): void;
  /** Adds the bytes and returns their digest. Throws StorageError. */
  put(bytes: Uint8Array): string;
  /** Throws StorageError; then some of the blobs are not stored. */
  close(): void;
}

/** Number and bytes of blobs from which on they go into a pack. A file of its own takes half a millisecond. */
const MIN_PACKED = 8;
const MIN_PACKED_BYTES = 4 * 1024 * 1024;

/** Returns a function that opens batches. `root` is the `checkpoints` folder of the state directory. */
export const blobBatches = (root: string): (() => BlobBatch) => {
  const packs = new StoredPacks(root);
  const blobs = checkpointBlobs(root, packs);
  return () => {
    packs.refresh();
    return new Batch(root, blobs, packs);
  };
};

class Batch implements BlobBatch {
  private readonly root: string;
  private readonly blobs: Blobs;
  private readonly packs: StoredPacks;
  private readonly waiting = new Map<string, Uint8Array>();
  private waitingBytes = 0;
  private pack: PackDraft | undefined;

  constructor(root: string, blobs: Blobs, packs: StoredPacks) {
    this.root = root;
    this.blobs = blobs;
    this.packs = packs;
  }

  add(digest: string, bytes: Uint8Array): void {
    // Files of their own are not looked up here, because that is slow for many. A second copy does no harm.
    if (this.waiting.has(digest) || this.packs.has(digest)) return;
    if (this.pack !== undefined) {
      this.pack.add(digest, bytes);
      return;
    }
    this.waiting.set(digest, Uint8Array.from(bytes));
    this.waitingBytes += bytes.length;
    if (this.waiting.size < MIN_PACKED && this.waitingBytes < MIN_PACKED_BYTES) return;
    this.pack = openPack(this.root);
    for (const [name, content] of this.waiting) this.pack.add(name, content);
    this.waiting.clear();
  }

  put(bytes: Uint8Array): string {
    const digest = blobDigest(bytes);
    this.add(digest, bytes);
    return digest;
  }

  close(): void {
    try {
      for (const bytes of this.waiting.values()) this.blobs.put(bytes);
      this.pack?.close();
    } finally {
      this.waiting.clear();
      this.pack?.discard();
    }
  }
}
