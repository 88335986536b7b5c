/** MemoryDisk port on the real disk. The files are not trusted. */
import { constants, lstatSync, realpathSync, statSync } from 'node:fs';
import { type FileHandle, open, opendir } from 'node:fs/promises';
import type { MemoryDisk, MemoryEntry, ResolvedMemoryPath } from '../../protocol/tools/memory.js';

export const memoryDisk = (): MemoryDisk => ({
  user: process.getuid?.(),
  resolve: async (path) => lookAt(path),
  read: (real, mostBytes) => readWhole(real, mostBytes).catch(() => 'unreadable' as const),
  list: (real, most) => listAll(real, most).catch(() => 'unreadable' as const),
});

const HAS_OWNERS = process.getuid !== undefined;

/**
 * Synchronous, because a walk looks up about sixty paths before the first request, most of them missing, and an
 * asynchronous call takes longer than the lookup.
 */
const lookAt = (path: string): ResolvedMemoryPath | undefined => {
  try {
    const link = lstatSync(path, { throwIfNoEntry: false });
    if (link === undefined) return undefined;
    const real = realpathSync.native(path);
    const found = statSync(real);
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other';
    const owners = [...new Set([found.uid, link.uid])];
    return { real, kind, owners: HAS_OWNERS ? owners : [] };
  } catch {
    return undefined;
  }
};

const readWhole = async (real: string, mostBytes: number) => {
  // The path may have been replaced since the lookup, so do not follow links or block on a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(real, flags);
  try {
    const found = await handle.stat();
    if (!found.isFile()) return 'unreadable';
    return found.size > mostBytes ? 'too-large' : await readToEnd(handle, mostBytes);
  } finally {
    await handle.close();
  }
};

const CHUNK_BYTES = 64 * 1024;

/** Ignores the reported size, because files grow and /proc reports 0. */
const readToEnd = async (handle: FileHandle, mostBytes: number) => {
  const chunks: Buffer[] = [];
  for (let length = 0; length <= mostBytes; ) {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(CHUNK_BYTES),
      0,
      CHUNK_BYTES,
      null,
    );
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return 'too-large';
};

const listAll = async (real: string, most: number) => {
  const entries: MemoryEntry[] = [];
  for await (const entry of await opendir(real)) {
    if (entries.length === most) return 'too-many';
    const kind = entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'other';
    entries.push({ name: entry.name, kind });
  }
  return entries;
};
