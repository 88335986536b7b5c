import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { FileError, type FileStamp, type Workspace } from '../../src/protocol/tools/workspace.js';

export interface MemoryWorkspace extends Workspace {
  /** The disk, by absolute path. */
  readonly files: Map<string, Uint8Array>;
  text(path: string): string | undefined;
  put(path: string, content: string | Uint8Array): void;
}

/** Workspace made of bytes in a map. A path that other paths start with is a directory. */
export const memoryWorkspace = (
  content: Readonly<Record<string, string | Uint8Array>> = {},
): MemoryWorkspace => {
  const files = new Map<string, Uint8Array>();
  const isDirectory = (path: string) =>
    [...files.keys()].some((file) => file.startsWith(`${path}/`));
  let ticks = 0;
  const times = new Map<string, number>();
  const put = (path: string, bytes: string | Uint8Array) => {
    files.set(path, Buffer.from(bytes as string));
    times.set(path, ++ticks);
  };
  const stamp = (path: string, bytes: Uint8Array): FileStamp => ({
    digest: createHash('sha256').update(bytes).digest('hex'),
    mtimeMs: times.get(path) ?? 0,
    size: bytes.length,
  });
  for (const [path, bytes] of Object.entries(content)) put(path, bytes);

  return {
    files,
    put,
    text: (path) => files.get(path) && Buffer.from(files.get(path) ?? []).toString('utf8'),
    resolve: (path) => posix.resolve('/', path.replace(/^~(?=\/|$)/, '/home')),
    async read(path, maxBytes) {
      const bytes = files.get(path);
      if (bytes === undefined)
        throw new FileError(isDirectory(path) ? 'directory' : 'missing', path);
      if (bytes.length > maxBytes) throw new FileError('too-large', path);
      return { bytes, stamp: stamp(path, bytes) };
    },
    async stat(path) {
      const bytes = files.get(path);
      if (bytes !== undefined) {
        return { kind: 'file', size: bytes.length, mtimeMs: times.get(path) ?? 0 };
      }
      return isDirectory(path) ? { kind: 'directory', size: 0, mtimeMs: 0 } : undefined;
    },
    async write(path, bytes, expected) {
      const old = files.get(path);
      const digest = old && stamp(path, old).digest;
      const expectedDigest = expected === 'absent' ? undefined : expected?.digest;
      if (expected !== undefined && digest !== expectedDigest) throw new FileError('changed', path);
      put(path, bytes);
      return stamp(path, bytes);
    },
  };
};
