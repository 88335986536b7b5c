/** Takes a session back to an earlier prompt: files, conversation or both. Planned first, then done. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { keepPresent, RestoreError, restoreFiles } from '../../actors/checkpoints/restore-files.js';
import { type PlannedFile, planFiles } from '../../actors/checkpoints/rewind-plan.js';
import { realPath } from '../../config/workspace/real-path.js';
import { resolveSkeinHome } from '../../config/workspace/state-directory.js';
import { countsSince, type Irreversible, irreversibleSince } from '../../context/file-history.js';
import { type RewindPoint, rewindPoints } from '../../context/rewind-points.js';
import type { RestoreBorders } from '../../host/files/file-restore.js';
import { childEnvironment } from '../../host/process/ownership/child-environment.js';
import { filesWereKept, filesWerePutBack } from '../../prompt/messages/rewind-notice.js';
import { UsageError } from '../../protocol/errors.js';
import { randomIds } from '../../protocol/ids.js';
import type { Blobs, FileChange } from '../../protocol/session/checkpoint.js';
import type { JournalBody, JournalRecord } from '../../protocol/session/journal.js';
import type { Journal, SessionMeta, SessionStore } from '../../protocol/session/store.js';
import { settingsFor } from '../assembly/options/command-settings.js';
import type { HostEnvironment } from '../assembly/options/host-environment.js';
import type { RunOptions } from '../assembly/options/run-options.js';
import { blobsOf, checkpointsFor, rootsOf } from '../assembly/session-checkpoints.js';

/** As large a file as checkpoints keep. */
const LARGEST_FILE = 32 * 1024 * 1024;

export interface RewindRequest {
  /** The prompt to go back to, which is taken back too; the newest if left out. */
  readonly to?: number;
  readonly files: boolean;
  readonly conversation: boolean;
}

export interface RewindPlan {
  /** The last record that stays. */
  readonly to: number;
  /** Undefined when it takes back a rewind. */
  readonly point: RewindPoint | undefined;
  readonly undoes: number | undefined;
  readonly conversation: boolean;
  readonly files: readonly PlannedFile[];
  /** Files that stay as they are although the conversation goes. */
  readonly keptFiles: readonly string[];
  /** The prompts that leave the conversation. */
  readonly prompts: readonly RewindPoint[];
  readonly irreversible: Irreversible;
}

export interface RewindOutcome {
  readonly files: readonly FileChange[];
  /** Folders that stay, because they hold more than is known of. */
  readonly full: readonly string[];
  /** Files that stay as they are. */
  readonly left: readonly PlannedFile[];
}

export class RewindDesk {
  readonly meta: SessionMeta;
  readonly blobs: Blobs;
  private readonly store: SessionStore;
  private readonly borders: RestoreBorders;
  /** What the journal holds, and what a process that was killed could not write. */
  private readonly records: readonly JournalRecord[];
  private readonly unsettled: readonly JournalBody[];

  constructor(
    place: { store: SessionStore; meta: SessionMeta; borders: RestoreBorders; blobs: Blobs },
    past: readonly JournalRecord[],
    unsettled: readonly JournalBody[],
  ) {
    this.meta = place.meta;
    this.store = place.store;
    this.borders = place.borders;
    this.blobs = place.blobs;
    this.unsettled = unsettled;
    const last = past.at(-1);
    const head = { v: 1, ts: last?.ts ?? 0, epoch: last?.epoch ?? 0 } as const;
    const added = unsettled.map(
      (body, at) => ({ ...head, seq: (last?.seq ?? 0) + 1 + at, ...body }) as JournalRecord,
    );
    this.records = [...past, ...added];
  }

  /** Oldest first, each with how many files have changed since. */
  points(): readonly (RewindPoint & { readonly files: number })[] {
    const points = rewindPoints(this.records);
    const counts = countsSince(
      this.records,
      points.map(({ to }) => to),
    );
    return points.map((point, at) => ({ ...point, files: counts[at] ?? 0 }));
  }

  /** Throws a UsageError. Touches nothing. */
  plan({ to: wanted, files, conversation }: RewindRequest): RewindPlan {
    const points = rewindPoints(this.records);
    const point = wanted === undefined ? points.at(-1) : points[wanted - 1];
    if (point === undefined) throw new UsageError(noSuchPrompt(wanted, points.length));
    const prompts = conversation ? points.slice(point.number - 1) : [];
    return { ...this.planTo(point.to, { files, conversation }), point, undoes: undefined, prompts };
  }

  /** Takes back the last rewind: what it did, and what was done since. */
  planUndo(): RewindPlan {
    const at = this.records.findLastIndex(({ type }) => REWINDS.has(type));
    const last = this.records[at];
    if (last === undefined || (last.type !== 'session.rewound' && last.type !== 'rewind.began')) {
      throw new UsageError(
        'Nothing has been rewound in this session, so there is nothing to undo.',
      );
    }
    const announced = this.records[at - 1];
    const first = last.type === 'session.rewound' && announced?.type === 'rewind.began';
    const to = (first ? announced.seq : last.seq) - 1;
    const conversation = last.type === 'session.rewound' && last.conversation;
    const files = last.changes.length > 0;
    const points = rewindPoints(this.records);
    const prompts = conversation ? points.filter((point) => point.to >= last.seq) : [];
    return {
      ...this.planTo(to, { files, conversation }),
      point: undefined,
      undoes: last.seq,
      prompts,
    };
  }

  private planTo(
    to: number,
    { files, conversation }: Pick<RewindRequest, 'files' | 'conversation'>,
  ): Pick<RewindPlan, 'to' | 'conversation' | 'files' | 'keptFiles' | 'irreversible'> {
    const { blobs, borders, records } = this;
    const planned = planFiles(records, to, { blobs, borders, largestFile: LARGEST_FILE });
    return {
      to,
      conversation,
      files: files ? planned : [],
      keptFiles: files ? [] : planned.map(({ path }) => path),
      irreversible: irreversibleSince(records, to),
    };
  }

  /**
   * Takes the lease for as long as it lasts. With `force` also what somebody else has changed since,
   * which is kept first. Throws a UsageError, a StorageError or a RestoreError.
   */
  async carryOut(plan: RewindPlan, force: boolean): Promise<RewindOutcome> {
    const blocking = plan.files.filter(isBlocking);
    if (blocking.length > 0 && !force) throw new RestoreError('Some files need --force.');
    const doable = plan.files.filter(({ verdict }) => isDoable(verdict));
    const left = plan.files.filter(({ verdict }) => !isDoable(verdict));
    const session = await this.store.open(this.meta.id);
    try {
      const journal = await session.journal(this.meta.lead, null);
      this.refuseIfMoved(journal);
      for (const body of this.unsettled) journal.append(body);
      const changes = keepPresent(doable, this.blobs, LARGEST_FILE);
      const full = await this.restore(journal, plan.to, changes);
      journal.append(this.rewound(plan, changes));
      await journal.sync();
      await session.updateMeta({ updatedAt: Date.now() });
      return { files: changes, full, left };
    } finally {
      await session.close();
    }
  }

  private async restore(
    journal: Journal,
    to: number,
    changes: readonly FileChange[],
  ): Promise<readonly string[]> {
    if (changes.length === 0) return [];
    journal.append({ type: 'rewind.began', to, changes: [...changes] });
    await journal.sync();
    return restoreFiles(changes, { blobs: this.blobs, borders: this.borders });
  }

  private rewound(plan: RewindPlan, changes: readonly FileChange[]): JournalBody {
    const { to, conversation, undoes, keptFiles } = plan;
    const paths = changes.map(({ path }) => path);
    const text =
      conversation || paths.length === 0
        ? conversation && keptFiles.length > 0
          ? filesWereKept(keptFiles)
          : undefined
        : filesWerePutBack(paths);
    return {
      type: 'session.rewound',
      to,
      conversation,
      changes: [...changes],
      ...(text !== undefined && { notice: { letter: randomIds('letter'), text } }),
      ...(undoes !== undefined && { undoes }),
    };
  }

  /** What was planned is for the journal that was looked at. */
  private refuseIfMoved(journal: Journal): void {
    const seen = this.records.at(-1)?.seq ?? 0;
    const isSame = (journal.past.records.at(-1)?.seq ?? 0) === seen - this.unsettled.length;
    if (!isSame) throw new UsageError('The session has gone on meanwhile; look at it once more.');
  }
}

const REWINDS: ReadonlySet<string> = new Set(['session.rewound', 'rewind.began']);

/** Without --force nothing is done while one of these is among them. */
export const isBlocking = ({ verdict }: Pick<PlannedFile, 'verdict'>): boolean =>
  verdict !== 'restore' && verdict !== 'lost';

const isDoable = (verdict: PlannedFile['verdict']): boolean =>
  verdict === 'restore' || verdict === 'changed' || verdict === 'unkept';

const noSuchPrompt = (wanted: number | undefined, count: number): string => {
  if (count === 0)
    return 'Nothing has been said in this session, so there is nothing to take back.';
  return `There is no prompt ${wanted}: the conversation has ${count}; --list shows them.`;
};

/** Looks at a session without taking it. */
export const openRewind = async (
  machine: HostEnvironment,
  flags: RunOptions,
  store: SessionStore,
  meta: SessionMeta,
): Promise<RewindDesk> => {
  if (!existsSync(meta.cwd)) {
    throw new UsageError(
      `Session ${meta.id} works in ${meta.cwd}, which does not exist any more; restore the directory to rewind it.`,
    );
  }
  const skeinHome = resolveSkeinHome(machine);
  const settings = settingsFor(machine, flags, meta.cwd);
  const roots = [...new Set(rootsOf(meta.cwd, settings).map(realPath))];
  const { records } = await store.peek(meta.id, meta.lead);
  const unsettled: JournalBody[] = [];
  const isHeld = (await store.holder(meta.id)) !== undefined;
  const environment = childEnvironment(machine.env, '', tmpdir());
  const place = { skeinHome, roots, environment, notify: machine.notify };
  // A call that is under way has not been killed.
  if (!isHeld) await checkpointsFor(place, (body) => unsettled.push(body)).settle(records);
  const borders = { roots, without: [realPath(skeinHome)] };
  return new RewindDesk({ store, meta, borders, blobs: blobsOf(skeinHome) }, records, unsettled);
};
