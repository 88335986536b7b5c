/** A shared artifact: uploaded on close, so that other machines can read it. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { limitConcurrency } from '../../lib/async/limit-concurrency.js';
import type { Artifact } from '../../protocol/tools/artifact.js';

export interface SharedArtifactDeps {
  /** Rejects if the upload is refused. */
  readonly put: (name: string, bytes: Uint8Array) => Promise<void>;
  /** Called with the reason when an upload fails after `close` has resolved. */
  readonly notify: (sentence: string) => void;
  /** `away` resolves when the store is unreachable. The upload then continues when the store is back. */
  readonly untilAway: () => { readonly away: Promise<void>; readonly end: () => void };
}

/**
 * `close` resolves when the upload is done or the store is unreachable, and rejects if the upload fails. `upload`
 * limits how many outputs are in memory at once.
 */
export const sharedArtifact = (
  artifact: Artifact,
  upload: ReturnType<typeof limitConcurrency>,
  deps: SharedArtifactDeps,
): Artifact => ({
  path: artifact.path,
  write: (chunk) => artifact.write(chunk),
  async close() {
    await artifact.close();
    const sent = upload(() => send(artifact.path, deps));
    const { away, end } = deps.untilAway();
    const outcome = await Promise.race([sent.then(() => 'sent' as const), away]).finally(end);
    if (outcome === 'sent') return;
    sent.catch((error: unknown) => deps.notify((error as Error).message));
  },
});

const send = async (path: string, { put }: SharedArtifactDeps): Promise<void> => {
  try {
    await put(basename(path), await readFile(path));
  } catch (error) {
    throw new Error(`it is in ${path} on this machine only: ${(error as Error).message}`, {
      cause: error,
    });
  }
};
