/**
 * Start and end of the runs of an agent. The end of a lead's run is emitted only after it is synced
 * to disk.
 */
import { stops } from '../../machines/stops.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { JournalBody } from '../../protocol/session/journal-record.js';
import { RecordsLostError, StorageError } from '../../protocol/skein-error.js';
import type { DeferredChanges } from '../checkpoints/deferred-changes.js';
import type { JournaledState } from './journaled-state.js';

export class RunLifecycle {
  isRunning = false;
  /** True if a person stopped the agent: reports of its agents wait until a person writes. */
  isHeld = false;
  private readonly journal: JournaledState;
  private readonly feed: Feed;
  /** Starts a run of the machine for the waiting letters. */
  private readonly resume: (waiting: number) => void;
  /**
   * True for a lead: the end is emitted after the sync. A child syncs later, because its parent
   * records the end too.
   */
  private readonly waitsForDisk: boolean;
  private readonly deferredChanges: DeferredChanges;
  private isEnding = false;
  /** True if a letter arrived while the run was ending: it belongs to the next run. */
  private hasNextPrompt = false;

  constructor(
    journal: JournaledState,
    feed: Feed,
    resume: (waiting: number) => void,
    waitsForDisk: boolean,
    deferredChanges: DeferredChanges,
  ) {
    this.journal = journal;
    this.feed = feed;
    this.resume = resume;
    this.waitsForDisk = waitsForDisk;
    this.deferredChanges = deferredChanges;
  }

  /** True if no run is active or about to start, and the end of the last run has been emitted. */
  get isIdle(): boolean {
    return !this.isRunning && !this.isEnding && !this.hasNextPrompt;
  }

  begin(): void {
    this.isRunning = true;
    this.hasNextPrompt = false;
    this.recordIfPossible({ type: 'run.started', run: this.journal.history.runs + 1 });
  }

  /**
   * Starts a run for a new letter if none is active. Returns false if the letter must wait until
   * the end of the last run is emitted.
   */
  onLetter(isWindingDown: boolean): boolean {
    if (this.isEnding || isWindingDown) this.hasNextPrompt = true;
    else if (!this.isRunning) this.begin();
    return !this.isEnding;
  }

  /** Resolves with the reason of the end: a run whose records are lost has not succeeded. */
  async end(stop: Stop, turns: number, final: boolean): Promise<Stop> {
    if (!this.isRunning) return stop;
    this.isRunning = false;
    this.isEnding = true;
    const { reason, detail } = stop;
    const changes = this.deferredChanges.recorded();
    // Changes that cannot be recorded are determined by the next process.
    if (changes !== undefined) await changes.catch(() => undefined);
    this.recordIfPossible({ type: 'run.ended', reason, detail, turns, final });
    const synced = this.journal.sync(this.waitsForDisk ? 'now' : 'soon').catch(lossIn);
    const loss = this.waitsForDisk ? await synced : undefined;
    this.isEnding = false;
    const { waiting } = this.journal.history;
    // A run that a person cut off has not answered the earlier letters either.
    const isOneSided = reason === 'interrupted' || reason === 'denied';
    const wantsMore = this.hasNextPrompt || isOneSided;
    this.hasNextPrompt = !final && !this.isHeld && waiting > 0 && wantsMore;
    const isOwed = this.hasNextPrompt;
    const end = loss === undefined ? stop : stops.storageFailed(loss.message);
    this.feed.emit({ type: 'run.ended', stop: end, turns, ...(isOwed && { goesOn: true }) });
    if (isOwed && !this.isRunning) {
      this.begin();
      this.resume(waiting);
    }
    return end;
  }

  /**
   * Ignores a full disk: the run end is then missing in the journal, and the next start sees an
   * unfinished run.
   */
  private recordIfPossible(body: JournalBody): void {
    try {
      this.journal.record(body);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }
}

const lossIn = (error: unknown): RecordsLostError | undefined =>
  error instanceof RecordsLostError ? error : undefined;
