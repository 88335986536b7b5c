/**
 * Real pipes for what a command prints. Node gives a child a pair of sockets instead, and Linux does
 * not let a program open those again: `echo hi > /dev/stderr` would fail.
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
  /** For the child; to be closed here once it has it, or the pipe never ends. */
  readonly writer: number;
}

/** Undefined where they are not needed, or cannot be made: sockets are nearly as good. */
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

/** The reader goes first and does not wait; then there is somebody to write to. */
const openBothEnds = (path: string): OutputPipe => {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  return { reader: new Socket({ fd, readable: true, writable: false }), writer };
};

export const closeWriters = (pipes: readonly OutputPipe[]): void => {
  for (const { writer } of pipes) closeSync(writer);
};
