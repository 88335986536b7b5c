/** MemoryDisk port on the real disk. The files are not trusted. */
import { constants, lstatSync, realpathSync, statSync } from 'node:fs';
import { type FileHandle, open, opendir } from 'node:fs/promises';
import type { MemoryDisk, MemoryEntry, ResolvedMemoryPath } from '../../protocol/tools/memory.js';

export const memoryDisk = (): MemoryDisk => ({
  user: process.getuid?.(),
  resolve: async (path) => resolvePath(path),
  read: (real, maxBytes) => readWhole(real, maxBytes).catch(() => 'unreadable' as const),
  list: (real, maxEntries) => listAll(real, maxEntries).catch(() => 'unreadable' as const),
});

const HAS_OWNERS = process.getuid !== undefined;

/**
 * Synchronous, because a walk looks up about sixty paths before the first request, most of them missing, and an
 * asynchronous call takes longer than the lookup.
 */
const resolvePath = (path: string): ResolvedMemoryPath | undefined => {
  try {
    const link = lstatSync(path, { throwIfNoEntry: false });
    if (link === undefined) return undefined;
    const real = realpathSync.native(path);
    const stats = statSync(real);
    const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other';
    const owners = [...new Set([stats.uid, link.uid])];
    return { real, kind, owners: HAS_OWNERS ? owners : [] };
  } catch {
    return undefined;
  }
};

const readWhole = async (real: string, maxBytes: number) => {
  // The path may have been replaced since the lookup, so do not follow links or block on a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(real, flags);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return 'unreadable';
    return stats.size > maxBytes ? 'too-large' : await readToEnd(handle, maxBytes);
  } finally {
    await handle.close();
  }
};

const CHUNK_BYTES = 64 * 1024;

/** Ignores the reported size, because files grow and /proc reports 0. */
const readToEnd = async (handle: FileHandle, maxBytes: number) => {
  const chunks: Buffer[] = [];
  for (let length = 0; length <= maxBytes; ) {
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

const listAll = async (real: string, maxEntries: number) => {
  const entries: MemoryEntry[] = [];
  for await (const entry of await opendir(real)) {
    if (entries.length === maxEntries) return 'too-many';
    const kind = entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'other';
    entries.push({ name: entry.name, kind });
  }
  return entries;
};
