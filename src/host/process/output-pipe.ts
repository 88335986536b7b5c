/**
 * Output pipes of a command as real pipes. Node gives a child sockets, which Linux does not let a
 * program reopen, so `echo hi > /dev/stderr` would fail.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

export interface OutputPipe {
  readonly reader: Readable;
  /** Descriptor for the child. Close it after the spawn, or the pipe never ends. */
  readonly writer: number;
}

/** Returns undefined if pipes are not needed or cannot be created. The caller then uses sockets. Never rejects. */
export const openOutputPipes = async (
  count: number,
): Promise<readonly OutputPipe[] | undefined> => {
  if (process.platform !== 'linux') return undefined;
  const directory = await mkdtemp(join(tmpdir(), 'skein-pipes-')).catch(() => undefined);
  if (directory === undefined) return undefined;
  const paths = Array.from({ length: count }, (_, number) => join(directory, String(number)));
  try {
    const env = { PATH: process.env.PATH };
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths], { env });
    return paths.map(openBothEnds);
  } catch {
    return undefined;
  } finally {
    await rm(directory, { recursive: true, force: true }).catch(() => undefined);
  }
};

/** Opens the reader first without blocking, because a FIFO without reader blocks the writer. */
const openBothEnds = (path: string): OutputPipe => {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  return { reader: new Socket({ fd, readable: true, writable: false }), writer };
};

export const closeWriters = (pipes: readonly OutputPipe[]): void => {
  for (const { writer } of pipes) closeSync(writer);
};
