/** A large output that other machines can read: once it is whole, it is put where they find it too. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { limitConcurrency } from '../../lib/async/limit-concurrency.js';
import type { Artifact } from '../../protocol/tools/artifact.js';

export interface SharedArtifactDeps {
  /** Rejects when it is refused. */
  readonly put: (name: string, bytes: Uint8Array) => Promise<void>;
  /** Told what others will not find, of what nobody waits for any more. */
  readonly notify: (sentence: string) => void;
  /** Resolves when there is no use in waiting: whoever keeps it is away, and takes it when it is back. */
  readonly untilAway: () => { readonly away: Promise<void>; readonly end: () => void };
}

/**
 * Closing it resolves when others can read it, and rejects when they cannot. `upload` limits how many outputs are in
 * memory at once.
 */
export const sharedArtifact = (
  artifact: Artifact,
  upload: ReturnType<typeof limitConcurrency>,
  terms: SharedArtifactDeps,
): Artifact => ({
  path: artifact.path,
  write: (chunk) => artifact.write(chunk),
  async close() {
    await artifact.close();
    const sent = upload(() => send(artifact.path, terms));
    const { away, end } = terms.untilAway();
    const outcome = await Promise.race([sent.then(() => 'sent' as const), away]).finally(end);
    if (outcome === 'sent') return;
    sent.catch((error: unknown) => terms.notify((error as Error).message));
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
