/** Rewinds a session to an earlier prompt: files, conversation or both. Plans, then applies. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import {
  keepCurrentFiles,
  RestoreError,
  removeDrafts,
  restoreFiles,
} from '../../actors/checkpoints/restore-files.js';
import { type PlannedFile, rewindPlan } from '../../actors/checkpoints/rewind-plan.js';
import { realPath } from '../../config/workspace/real-path.js';
import { resolveSkeinHome } from '../../config/workspace/state-layout.js';
import { statePaths } from '../../config/workspace/state-paths.js';
import {
  changedFileCounts,
  type Irreversible,
  interruptedRewinds,
  irreversibleSince,
  lastRewind,
} from '../../context/file-history.js';
import { type RewindPoint, rewindPoints } from '../../context/rewind-points.js';
import { newDraftName, type RestoreLimits } from '../../host/files/restore-file.js';
import { childEnvironment } from '../../host/process/ownership/child-environment.js';
import { rewindNotice } from '../../prompt/messages/rewind-notice.js';
import { randomIds } from '../../protocol/ids.js';
import type { Blobs, FileChange } from '../../protocol/session/checkpoints.js';
import type { Journal } from '../../protocol/session/journal.js';
import type { JournalBody, JournalRecord } from '../../protocol/session/journal-record.js';
import type { SessionMeta, SessionStore } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import { commandSettings } from '../assembly/options/command-settings.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import type { RunOptions } from '../assembly/options/run-options.js';
import {
  openCheckpointBlobs,
  sessionCheckpoints,
  workspaceRoots,
} from '../assembly/session-checkpoints.js';

/** Maximum bytes of a file that is restored, as for checkpoints. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

interface RewindRequest {
  /** Number of the first prompt to take back. Default: the newest prompt. */
  readonly to?: number;
  readonly files: boolean;
  readonly conversation: boolean;
}

export interface RewindPlan {
  /** Sequence number of the last record that stays. */
  readonly to: number;
  /** Prompt to rewind to. Undefined if the plan undoes a rewind. */
  readonly point: RewindPoint | undefined;
  readonly undoes: number | undefined;
  readonly conversation: boolean;
  readonly files: readonly PlannedFile[];
  /** Changed files that are not restored although the conversation is rewound. */
  readonly keptFiles: readonly string[];
  /** Prompts that are removed from the conversation. */
  readonly prompts: readonly RewindPoint[];
  readonly irreversible: Irreversible;
}

export interface RewindOutcome {
  readonly files: readonly FileChange[];
  /** Folders that were not removed because they contain other files. */
  readonly full: readonly string[];
  /** Files that were not restored. */
  readonly left: readonly PlannedFile[];
}

export class SessionRewind {
  readonly meta: SessionMeta;
  readonly blobs: Blobs;
  private readonly store: SessionStore;
  private readonly limits: RestoreLimits;
  /** Records of the journal, followed by `unsettled`. */
  private readonly records: readonly JournalRecord[];
  private readonly unsettled: readonly JournalBody[];

  constructor(
    target: { store: SessionStore; meta: SessionMeta; limits: RestoreLimits; blobs: Blobs },
    records: readonly JournalRecord[],
    unsettled: readonly JournalBody[],
  ) {
    this.meta = target.meta;
    this.store = target.store;
    this.limits = target.limits;
    this.blobs = target.blobs;
    this.unsettled = unsettled;
    const last = records.at(-1);
    const head = { v: 1, ts: last?.ts ?? 0, epoch: last?.epoch ?? 0 } as const;
    const added = unsettled.map(
      (body, at) => ({ ...head, seq: (last?.seq ?? 0) + 1 + at, ...body }) as JournalRecord,
    );
    this.records = [...records, ...added];
  }

  /** Returns the prompts, oldest first, with the number of files changed since. */
  points(): readonly (RewindPoint & { readonly files: number })[] {
    const points = rewindPoints(this.records);
    const counts = changedFileCounts(
      this.records,
      points.map(({ to }) => to),
    );
    return points.map((point, at) => ({ ...point, files: counts[at] ?? 0 }));
  }

  /** Plans a rewind without changing anything. Throws UsageError if there is no such prompt. */
  plan({ to: number, files, conversation }: RewindRequest): RewindPlan {
    const points = rewindPoints(this.records);
    const point = number === undefined ? points.at(-1) : points[number - 1];
    if (point === undefined) throw new UsageError(noSuchPrompt(number, points.length));
    const prompts = conversation ? points.slice(point.number - 1) : [];
    return { ...this.planTo(point.to, { files, conversation }), point, undoes: undefined, prompts };
  }

  /** Plans to undo the last rewind and all changes since. Throws UsageError if there was none. */
  planUndo(): RewindPlan {
    const last = lastRewind(this.records);
    if (last === undefined) {
      throw new UsageError('This session was never rewound, so there is nothing to undo.');
    }
    const { record, to } = last;
    const conversation = record.type === 'session.rewound' && record.conversation;
    const points = rewindPoints(this.records);
    const prompts = conversation ? points.filter((point) => point.to >= record.seq) : [];
    return {
      ...this.planTo(to, { files: last.hasFiles, conversation }, record.seq),
      point: undefined,
      undoes: record.seq,
      prompts,
    };
  }

  private planTo(
    to: number,
    { files, conversation }: Pick<RewindRequest, 'files' | 'conversation'>,
    undone?: number,
  ): Pick<RewindPlan, 'to' | 'conversation' | 'files' | 'keptFiles' | 'irreversible'> {
    const { blobs, limits, records } = this;
    const deps = { blobs, limits, maxFileBytes: MAX_FILE_BYTES };
    const planned = rewindPlan(records, to, deps, undone);
    return {
      to,
      conversation,
      files: files ? planned : [],
      keptFiles: files ? [] : planned.map(({ path }) => path),
      irreversible: irreversibleSince(records, to),
    };
  }

  /**
   * Applies the plan under the session's lease. With `isForced`, also restores files that were changed by others
   * since; their contents are saved first. Rejects with UsageError, StorageError or RestoreError.
   */
  async apply(plan: RewindPlan, isForced: boolean): Promise<RewindOutcome> {
    const blocking = plan.files.filter(isBlocking);
    if (blocking.length > 0 && !isForced) throw new RestoreError('Some files need --force.');
    const doable = plan.files.filter(({ verdict }) => isDoable(verdict));
    const left = plan.files.filter(({ verdict }) => !isDoable(verdict));
    const session = await this.store.open(this.meta.id);
    try {
      const journal = await session.journal(this.meta.lead, null);
      this.refuseIfChanged(journal);
      for (const body of this.unsettled) journal.append(body);
      const changes = keepCurrentFiles(doable, this.blobs, MAX_FILE_BYTES);
      removeDrafts(interruptedRewinds(this.records), this.limits);
      const full = await this.restore(journal, plan, changes);
      journal.append(this.rewindRecord(plan, changes));
      await journal.sync();
      await session.updateMeta({ updatedAt: Date.now() });
      return { files: changes, full, left };
    } finally {
      await session.close();
    }
  }

  /**
   * Removes the temporary files of killed rewinds, for a plan without changes. Does nothing while the session runs.
   * Rejects with UsageError, StorageError or RestoreError.
   */
  async sweep(): Promise<void> {
    const killed = interruptedRewinds(this.records);
    if (killed.length === 0 || (await this.store.holder(this.meta.id)) !== undefined) return;
    const session = await this.store.open(this.meta.id);
    try {
      removeDrafts(killed, this.limits);
    } finally {
      await session.close();
    }
  }

  private async restore(
    journal: Journal,
    { to, undoes }: RewindPlan,
    changes: readonly FileChange[],
  ): Promise<readonly string[]> {
    if (changes.length === 0) return [];
    const draft = newDraftName();
    journal.append({
      type: 'rewind.began',
      to,
      changes: [...changes],
      ...(undoes !== undefined && { undoes }),
      draft,
    });
    await journal.sync();
    return restoreFiles(changes, { blobs: this.blobs, limits: this.limits, draft });
  }

  private rewindRecord(plan: RewindPlan, changes: readonly FileChange[]): JournalBody {
    const { to, conversation, undoes, keptFiles } = plan;
    const paths = changes.map(({ path }) => path);
    const text =
      conversation || paths.length === 0
        ? conversation && keptFiles.length > 0
          ? rewindNotice('conversation', keptFiles)
          : undefined
        : rewindNotice('files', paths);
    return {
      type: 'session.rewound',
      to,
      conversation,
      changes: [...changes],
      ...(text !== undefined && { notice: { letter: randomIds('letter'), text } }),
      ...(undoes !== undefined && { undoes }),
    };
  }

  /** Throws UsageError if the journal has changed since the plan was made. */
  private refuseIfChanged(journal: Journal): void {
    const lastSeq = this.records.at(-1)?.seq ?? 0;
    const isSame = (journal.past.records.at(-1)?.seq ?? 0) === lastSeq - this.unsettled.length;
    if (!isSame) throw new UsageError('The session has continued since; plan the rewind again.');
  }
}

/** True if the file prevents the rewind unless `--force` is given. */
export const isBlocking = ({ verdict }: Pick<PlannedFile, 'verdict'>): boolean =>
  verdict !== 'restore' && verdict !== 'lost';

const isDoable = (verdict: PlannedFile['verdict']): boolean =>
  verdict === 'restore' || verdict === 'changed' || verdict === 'unkept';

const noSuchPrompt = (number: number | undefined, count: number): string => {
  if (count === 0) return 'The session has no prompts yet, so there is nothing to take back.';
  return `There is no prompt ${number}: the conversation has ${count}; --list shows them.`;
};

/** Reads a session for a rewind, without taking its lease. Rejects with UsageError. */
export const openSessionRewind = async (
  host: HostEnvironment,
  flags: RunOptions,
  store: SessionStore,
  meta: SessionMeta,
): Promise<SessionRewind> => {
  if (!existsSync(meta.cwd)) {
    throw new UsageError(
      `Session ${meta.id} works in ${meta.cwd}, which no longer exists; restore the directory to rewind the session.`,
    );
  }
  const skeinHome = resolveSkeinHome(host);
  const settings = commandSettings(host, flags, meta.cwd);
  const roots = [...new Set(workspaceRoots(meta.cwd, settings).map(realPath))];
  const { records, damage } = await store.readJournal(meta.id, meta.lead);
  for (const text of damage)
    host.notify(`${text}. A rewind cannot take back changes whose records are missing.`);
  const unsettled: JournalBody[] = [];
  const isHeld = (await store.holder(meta.id)) !== undefined;
  const environment = childEnvironment(host.env, '', tmpdir());
  const options = { skeinHome, roots, environment, notify: host.notify };
  // While the session runs, an open call is not interrupted, so it must not be settled.
  if (!isHeld) await sessionCheckpoints(options, (body) => unsettled.push(body)).settle(records);
  const limits = { roots, without: statePaths(skeinHome) };
  return new SessionRewind(
    { store, meta, limits, blobs: openCheckpointBlobs(skeinHome) },
    records,
    unsettled,
  );
};
