/** Takes away checkpoints that no session needs any more. */
import { citedBy } from '../../actors/checkpoints/workspace-manifest.js';
import { resolveSkeinHome, stateLayout } from '../../config/workspace/state-directory.js';
import type { Blobs, FileState } from '../../protocol/session/checkpoint.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { type Swept, sweepBlobs } from '../../store/files/checkpoint-blobs.js';
import { withCachedJobs } from '../../views/swarm/cached-job-list.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import { blobsOf } from '../assembly/session-checkpoints.js';
import { isWorkedOn } from '../control/remote-commands.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * `stores`: all whose sessions may have kept something here, whichever of them is used now. Those of
 * sessions that nobody has used for `days` go, too. What is younger than a day always stays: whoever has
 * just kept it may not have written down yet what for.
 */
export const sweepCheckpoints = async (
  machine: Pick<HostEnvironment, 'env' | 'home' | 'cwd'>,
  stores: readonly SessionStore[],
  days: number,
  dryRun: boolean,
): Promise<Swept> => {
  const surveys = await Promise.all(stores.map((store) => store.survey()));
  // Nobody knows what such a session needs.
  if (surveys.some(({ unreadable }) => unreadable.length > 0)) return { removed: 0, freedBytes: 0 };
  const skeinHome = resolveSkeinHome(machine);
  const cited = new Citations(blobsOf(skeinHome));
  const oldest = Date.now() - days * DAY_MS;
  for (const [at, store] of stores.entries()) {
    const source = withCachedJobs(store);
    for (const { id, updatedAt } of surveys[at]?.sessions ?? []) {
      const isRunning = await isWorkedOn(source, id);
      if (updatedAt < oldest && !isRunning) continue;
      for (const agent of await store.agents(id)) {
        for await (const record of store.records(id, agent)) cited.take(record);
      }
    }
  }
  const { checkpoints } = stateLayout(skeinHome);
  return sweepBlobs(checkpoints, (digest) => cited.has(digest), Date.now() - DAY_MS, dryRun);
};

class Citations {
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
    for (const digest of citedBy(this.blobs, manifest)) this.digests.add(digest);
  }

  private add(...states: readonly FileState[]): void {
    for (const state of states) if ('digest' in state) this.digests.add(state.digest);
  }
}
