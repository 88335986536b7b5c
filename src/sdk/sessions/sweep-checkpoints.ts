/** Removes checkpoint blobs that no session needs. */
import { manifestBlobs } from '../../actors/checkpoints/workspace-manifest.js';
import { resolveSkeinHome, stateLayout } from '../../config/workspace/state-layout.js';
import type { Blobs, FileState } from '../../protocol/session/checkpoints.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { type SweepResult, sweepBlobs } from '../../store/files/checkpoints/sweep-blobs.js';
import { withCachedJobs } from '../../views/swarm/cached-jobs.js';
import { isLiveSession } from '../../views/swarm/live-sessions.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import { openCheckpointBlobs } from '../assembly/session-checkpoints.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Removes blobs that no session of `stores` cites, and blobs of sessions that were not used for `days` days.
 * `stores` must be all stores whose sessions may have checkpoints on this machine. Blobs younger than a day
 * are kept, because their records may not have been written yet. Removes nothing if a session is unreadable.
 */
export const sweepCheckpoints = async (
  host: Pick<HostEnvironment, 'env' | 'home' | 'cwd'>,
  stores: readonly SessionStore[],
  days: number,
  isDryRun: boolean,
): Promise<SweepResult> => {
  const surveys = await Promise.all(stores.map((store) => store.survey()));
  // An unreadable session may cite any blob.
  if (surveys.some(({ unreadable }) => unreadable.length > 0)) return { removed: 0, freedBytes: 0 };
  const skeinHome = resolveSkeinHome(host);
  const cited = new CitedBlobs(openCheckpointBlobs(skeinHome));
  const oldest = Date.now() - days * DAY_MS;
  for (const [at, store] of stores.entries()) {
    const source = withCachedJobs(store);
    for (const { id, updatedAt } of surveys[at]?.sessions ?? []) {
      const isRunning = await isLiveSession(source, id);
      if (updatedAt < oldest && !isRunning) continue;
      for (const agent of await store.agents(id)) {
        for await (const record of store.records(id, agent)) cited.take(record);
      }
    }
  }
  const { checkpoints } = stateLayout(skeinHome);
  return sweepBlobs(checkpoints, (digest) => cited.has(digest), Date.now() - DAY_MS, isDryRun);
};

/** Digests of the blobs that journal records cite. */
class CitedBlobs {
  private readonly blobs: Blobs;
  private readonly digests = new Set<string>();

  constructor(blobs: Blobs) {
    this.blobs = blobs;
  }

  has(digest: string): boolean {
    return this.digests.has(digest);
  }

  take(record: JournalRecord): void {
    if ('changes' in record) {
      for (const { before, after } of record.changes) this.add(before, after);
    }
    if (record.type !== 'files.watched') return;
    for (const { before } of record.files ?? []) this.add(before);
    const { manifest } = record;
    if (manifest === undefined || this.digests.has(manifest)) return;
    for (const digest of manifestBlobs(this.blobs, manifest)) this.digests.add(digest);
  }

  private add(...states: readonly FileState[]): void {
    for (const state of states) if ('digest' in state) this.digests.add(state.digest);
  }
}
