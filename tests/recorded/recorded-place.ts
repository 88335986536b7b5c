/**
 * The fixed folders in which sessions were recorded. Prompts, journals and checkpoints hold absolute paths and their
 * digests, so a recorded session is resumed where it was recorded.
 */

import { mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

export type Kind = 'files' | 'redis';

export const SESSION = 'recorded';

const ROOT = '/tmp/skein-recorded';

/** Makes the empty root folder of a recording. */
export const emptyRoot = async (kind: Kind): Promise<string> => {
  const root = join(ROOT, kind);
  await rm(root, { recursive: true, force: true, maxRetries: 5 });
  await mkdir(root, { recursive: true });
  return root;
};

/** Time limit for another process to free the folders. */
const LOCK_LIMIT_MS = 240_000;

/**
 * Waits until no other process of this machine uses the folders. Returns the function that removes and frees them.
 * The lock is an abstract socket of Linux, so the kernel frees it when its process dies. Throws at the time limit.
 */
export const lockRoots = async (): Promise<() => Promise<void>> => {
  const deadline = Date.now() + LOCK_LIMIT_MS;
  while (Date.now() < deadline) {
    const server = createServer();
    const isOurs = await new Promise<boolean>((settle) => {
      server.once('error', () => settle(false));
      server.listen('\0skein-recorded', () => settle(true));
    });
    if (isOurs) {
      return async () => {
        await rm(ROOT, { recursive: true, force: true, maxRetries: 5 });
        await new Promise<void>((settle) => void server.close(() => settle()));
      };
    }
    await new Promise((next) => setTimeout(next, 200));
  }
  throw new Error(`Another process has used ${ROOT} for ${LOCK_LIMIT_MS} ms.`);
};
