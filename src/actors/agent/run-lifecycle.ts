/** Where one run ends and the next begins. Nobody outside hears of an end before it is on the disk. */
import type { Stop } from '../../protocol/agent/agent.js';
import { StorageError } from '../../protocol/errors.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { JournalBody } from '../../protocol/session/journal.js';
import type { JournaledState } from './journaled-state.js';

export class RunLifecycle {
  isRunning = false;
  /** A person has stopped it: what its agents report waits until a person speaks to it. */
  isHeld = false;
  private readonly notebook: JournaledState;
  private readonly feed: Feed;
  /** Tells the machine to go on with the letters that wait. */
  private readonly goOn: (waiting: number) => void;
  /** Somebody outside hears of the end; what a parent hears is on record with the parent too. */
  private readonly waitsForDisk: boolean;
  private isSettling = false;
  /** Somebody spoke after the run had begun to end: that is for the next one. */
  private isCalled = false;

  constructor(
    notebook: JournaledState,
    feed: Feed,
    goOn: (waiting: number) => void,
    waitsForDisk: boolean,
  ) {
    this.notebook = notebook;
    this.feed = feed;
    this.goOn = goOn;
    this.waitsForDisk = waitsForDisk;
  }

  /** No run is under way or about to begin, and the end of the last one has been told. */
  get isResting(): boolean {
    return !this.isRunning && !this.isSettling && !this.isCalled;
  }

  begin(): void {
    this.isRunning = true;
    this.isCalled = false;
    this.recordIfPossible({ type: 'run.started', run: this.notebook.history.runs + 1 });
  }

  /** A letter has come. False when it must wait for the end of the last run to be told. */
  mayInterject(isWindingDown: boolean): boolean {
    if (this.isSettling || isWindingDown) this.isCalled = true;
    else if (!this.isRunning) this.begin();
    return !this.isSettling;
  }

  async end(stop: Stop, turns: number, final: boolean): Promise<void> {
    if (!this.isRunning) return;
    this.isRunning = false;
    this.isSettling = true;
    const { reason, detail } = stop;
    this.recordIfPossible({ type: 'run.ended', reason, detail, turns, final });
    const synced = this.notebook.sync(this.waitsForDisk ? 'now' : 'soon').catch(() => undefined);
    if (this.waitsForDisk) await synced;
    this.isSettling = false;
    const { waiting } = this.notebook.history;
    // Of a run that a person cut off, what was said before has not been answered either.
    const isOneSided = reason === 'interrupted' || reason === 'denied';
    const wantsMore = this.isCalled || isOneSided;
    this.isCalled = !final && !this.isHeld && waiting > 0 && wantsMore;
    const isOwed = this.isCalled;
    this.feed.emit({ type: 'run.ended', stop, turns, ...(isOwed && { goesOn: true }) });
    if (!isOwed || this.isRunning) return;
    this.begin();
    this.goOn(waiting);
  }

  /** A full disk keeps the end of a run out of the journal; the next start sees as much. */
  private recordIfPossible(body: JournalBody): void {
    try {
      this.notebook.record(body);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }
}
