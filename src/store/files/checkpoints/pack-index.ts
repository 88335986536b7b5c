/**
 * Index of a pack: finds the contents of a blob by binary search in the bytes of the file.
 *
 * A pack has the contents of many blobs, then an entry for each blob (digest, offset, length) in the
 * order of the digests, then a footer (magic, version, number of entries, offset of the entries, and
 * their SHA-256). Numbers are big-endian. A pack never changes after it was sealed.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { openRegularFile } from '../io/open-regular-file.js';

export const BLOB_DIGEST = /^[0-9a-f]{64}$/;
export const PACK_NAME = /^[0-9a-f]{32}\.pack$/;
export const DRAFT_NAME = /^\.skein-[0-9a-f]+\.tmp$/;

/** `root` is the `checkpoints` folder of the state directory. */
export const packsFolder = (root: string): string => join(root, 'packs');

const DIGEST_BYTES = 32;
/** Bytes of an offset and of a length. 48 bits are exact as a number. */
const SIZE_BYTES = 6;
const ENTRY_BYTES = DIGEST_BYTES + 2 * SIZE_BYTES;

const MAGIC = Buffer.from('skeinpak');
const VERSION = 1;
const VERSION_AT = MAGIC.length;
const COUNT_AT = VERSION_AT + 4;
const OFFSET_AT = COUNT_AT + 4;
const CHECKSUM_AT = OFFSET_AT + SIZE_BYTES;
const FOOTER_BYTES = CHECKSUM_AT + DIGEST_BYTES;

export interface PackEntry {
  readonly digest: string;
  readonly offset: number;
  readonly length: number;
}

/** Bytes that the index and the footer of a pack need. */
export const packOverhead = (entries: number): number => entries * ENTRY_BYTES + FOOTER_BYTES;

/**
 * Returns the index and the footer behind `contentBytes` bytes of contents, and the name of the pack.
 * Packs of the same name have the same contents at the same places.
 */
export const encodeIndex = (
  entries: readonly PackEntry[],
  contentBytes: number,
): { readonly bytes: Buffer; readonly name: string } => {
  const bytes = Buffer.alloc(packOverhead(entries.length));
  const sorted = [...entries].sort((a, b) => (a.digest < b.digest ? -1 : 1));
  let at = 0;
  for (const { digest, offset, length } of sorted) {
    bytes.write(digest, at, 'hex');
    bytes.writeUIntBE(offset, at + DIGEST_BYTES, SIZE_BYTES);
    bytes.writeUIntBE(length, at + DIGEST_BYTES + SIZE_BYTES, SIZE_BYTES);
    at += ENTRY_BYTES;
  }
  const checksum = sha256(bytes.subarray(0, at));
  const footer = bytes.subarray(at);
  MAGIC.copy(footer);
  footer.writeUInt32BE(VERSION, VERSION_AT);
  footer.writeUInt32BE(entries.length, COUNT_AT);
  footer.writeUIntBE(contentBytes, OFFSET_AT, SIZE_BYTES);
  checksum.copy(footer, CHECKSUM_AT);
  return { bytes, name: `${checksum.toString('hex', 0, 16)}.pack` };
};

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

export class PackIndex {
  readonly count: number;
  /** Bytes of all contents of the pack. */
  readonly contentBytes: number;
  /** Date of the file when the index was read, in milliseconds. */
  readonly modified: number;
  private readonly entries: Buffer;

  private constructor(entries: Buffer, contentBytes: number, modified: number) {
    this.entries = entries;
    this.count = entries.length / ENTRY_BYTES;
    this.contentBytes = contentBytes;
    this.modified = modified;
  }

  /** Returns undefined if the file is no intact pack of this version. Throws the error of `node:fs`. */
  static read(fd: number): PackIndex | undefined {
    const { size, mtimeMs } = fs.fstatSync(fd);
    const footer = readAt(fd, size - FOOTER_BYTES, FOOTER_BYTES);
    if (footer === undefined || !footer.subarray(0, VERSION_AT).equals(MAGIC)) return undefined;
    if (footer.readUInt32BE(VERSION_AT) !== VERSION) return undefined;
    const count = footer.readUInt32BE(COUNT_AT);
    const contentBytes = footer.readUIntBE(OFFSET_AT, SIZE_BYTES);
    if (contentBytes + packOverhead(count) !== size) return undefined;
    const entries = readAt(fd, contentBytes, count * ENTRY_BYTES);
    if (entries === undefined || !sha256(entries).equals(footer.subarray(CHECKSUM_AT))) {
      return undefined;
    }
    return new PackIndex(entries, contentBytes, mtimeMs);
  }

  entryAt(index: number): PackEntry {
    const at = index * ENTRY_BYTES;
    return {
      digest: this.entries.toString('hex', at, at + DIGEST_BYTES),
      offset: this.entries.readUIntBE(at + DIGEST_BYTES, SIZE_BYTES),
      length: this.entries.readUIntBE(at + DIGEST_BYTES + SIZE_BYTES, SIZE_BYTES),
    };
  }

  /** `key` has the bytes of a digest. Returns undefined if the pack lacks the blob. */
  find(key: Buffer): PackEntry | undefined {
    const prefix = key.readUInt32BE();
    let low = 0;
    let high = this.count - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const at = middle * ENTRY_BYTES;
      // Most digests differ in their first bytes, and a number is compared much faster than bytes.
      const order =
        this.entries.readUInt32BE(at) - prefix ||
        this.entries.compare(key, 0, DIGEST_BYTES, at, at + DIGEST_BYTES);
      if (order === 0) return this.entryAt(middle);
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }
}

/** Returns undefined if the file has fewer bytes. Throws the error of `node:fs`. */
const readAt = (fd: number, offset: number, length: number): Buffer | undefined => {
  if (offset < 0) return undefined;
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const count = fs.readSync(fd, bytes, read, length - read, offset + read);
    if (count === 0) return undefined;
    read += count;
  }
  return bytes;
};

/** Calls `use` with a descriptor of the pack. Throws the error of `node:fs`. */
export const withPackFile = <Result>(path: string, use: (fd: number) => Result): Result => {
  const fd = openRegularFile(path);
  try {
    return use(fd);
  } finally {
    fs.closeSync(fd);
  }
};

/**
 * Reads contents of the pack, without a check of their digest. Returns undefined if the file is too
 * short. Throws the error of `node:fs`.
 */
export const readPackEntry = (
  fd: number,
  { contentBytes }: PackIndex,
  { offset, length }: PackEntry,
): Buffer | undefined => (offset + length > contentBytes ? undefined : readAt(fd, offset, length));
