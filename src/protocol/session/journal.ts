/** Port of one agent's journal. */
import type { JournalBody, JournalRecord } from './journal-record.js';

/** `soon`: the caller does not wait, so the write may be delayed until the disk is idle. */
export type SyncTime = 'now' | 'soon';

export interface Journal {
  /** Appends in order. Throws StorageError, in which case the record was not appended. */
  append(body: JournalBody): JournalRecord;
  /** Contents at the time the journal was opened. */
  readonly past: JournalContents;
  /**
   * Returns undefined if the next owner can already read all appended records, else a promise that
   * resolves then. The promise stays pending while the store is unreachable, and rejects with
   * StorageError if the store refuses the records. Every effect must wait for it.
   */
  written(): Promise<void> | undefined;
  /** Number of the last record that the store has acknowledged. Undefined if a store cannot lose records. */
  readonly acknowledged?: number;
  /** Resolves when all appended records would survive a power failure. */
  sync(when?: SyncTime): Promise<void>;
}

export interface JournalContents {
  readonly records: readonly JournalRecord[];
  /** Sentences about damage, each with file and line. Damaged lines are kept aside, never deleted. */
  readonly damage: readonly string[];
  /** Records that are missing and that no `journal.repaired` record names. Left out if none are. */
  readonly lost?: readonly LostRecords[] | undefined;
}

/** Numbers of the first and the last record of a gap. */
export interface LostRecords {
  readonly from: number;
  readonly to: number;
}
