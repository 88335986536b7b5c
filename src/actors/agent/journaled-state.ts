/**
 * Journal of an agent with the state folded from it. Each record is written first and applied
 * second.
 */
import { CacheLog } from '../../context/cache/cache-log.js';
import { CallLedger, type LedgerCall } from '../../context/history/call-ledger.js';
import {
  applyRewound,
  conversationRecords,
  conversationStep,
} from '../../context/history/conversation-records.js';
import { History } from '../../context/history/history.js';
import { inheritHistory } from '../../context/history/inherit-history.js';
import type { RequestedCall } from '../../protocol/model/wire-block.js';
import type { Journal, SyncTime } from '../../protocol/session/journal.js';
import type { JournalBody, JournalRecord } from '../../protocol/session/journal-record.js';
import { StorageError } from '../../protocol/skein-error.js';

/** State of an agent that is folded from its records. */
export interface FoldedState {
  readonly history: History;
  /** Tokens of the conversation that the server has cached. */
  readonly cache: CacheLog;
}

/** Folds records into a state. `base` is the state that a fork inherits from its parent. */
export const foldRecords = (records: readonly JournalRecord[], base?: FoldedState): FoldedState => {
  const history = new History();
  const cache = new CacheLog();
  if (base !== undefined) {
    inheritHistory(history, base.history);
    cache.copyFrom(base.cache);
  }
  const conversation = conversationRecords(records.map(conversationStep));
  let [previous, hasGap] = [0, false];
  for (const record of records) {
    hasGap = record.type !== 'journal.repaired' && (hasGap || record.seq !== previous + 1);
    previous = record.seq;
    const isInConversation = conversation.has(record.seq);
    if (isInConversation) history.apply(record);
    else applyRewound(history, record);
    cache.apply(record, isInConversation);
  }
  // Another process repairs the journal later, with the same result.
  if (hasGap || history.isInconsistent) history.repair();
  return { history, cache };
};

/** A requested call with its position in its message, counted from 1. */
interface NumberedCall extends RequestedCall {
  readonly number: number;
}

export class JournaledState implements FoldedState {
  readonly history: History;
  readonly cache: CacheLog;
  private readonly journal: Journal;
  private failure: StorageError | undefined;
  private isOver = false;
  /** Sequence number of the last record. */
  seq: number;
  /** Calls with effects, for the case that the store loses their records. */
  private readonly ledger = new CallLedger();
  /** Calls of the current attempt. Their message may not be recorded yet. */
  private readonly drafts = new Map<string, NumberedCall>();

  /** `records` are all records that the journal already has. */
  constructor(journal: Journal, records: readonly JournalRecord[], base?: FoldedState) {
    this.journal = journal;
    this.seq = records.at(-1)?.seq ?? 0;
    const { history, cache } = foldRecords(records, base);
    this.history = history;
    this.cache = cache;
    for (const record of records) this.ledger.apply(record);
  }

  /** Number of the last record that the store has acknowledged. */
  get acknowledged(): number {
    return this.journal.acknowledged ?? this.seq;
  }

  /** Returns calls with effects that started or ended after record `seq`. */
  callsSince(seq: number): readonly LedgerCall[] {
    return this.ledger.since(seq);
  }

  /** Appends a record and applies it to the state. Throws StorageError; then neither happened. */
  record(body: JournalBody): JournalRecord {
    if (this.failure !== undefined) throw this.failure;
    if (this.isOver && body.type !== 'hook.ran') throw new StorageError(CLOSED);
    const record = this.journal.append(body);
    this.seq = record.seq;
    this.history.apply(record);
    this.cache.apply(record);
    this.ledger.apply(record);
    return record;
  }

  /**
   * Makes every later `record` throw this error. Called for a storage failure in code that could
   * not report it.
   */
  fail(error: StorageError): void {
    this.failure ??= error;
  }

  /**
   * Refuses all records except `hook.ran`: the session is ending, and only its last hooks may still
   * record.
   */
  end(): void {
    this.isOver = true;
  }

  close(): void {
    this.failure ??= new StorageError(CLOSED);
  }

  /**
   * Waits until the records are where the next owner of the session finds them; effects must wait
   * for that. Returns undefined if there is no need to wait. Rejects with StorageError, and then
   * later records fail with it as well.
   */
  written(): Promise<void> | undefined {
    return this.journal.written()?.catch((error: unknown) => {
      if (error instanceof StorageError) this.failure = error;
      throw error;
    });
  }

  /** Calls `act` when `written` is done, synchronously if there is no need to wait. */
  whenWritten(act: () => void, onRefused: (error: Error) => void): void {
    const written = this.written();
    if (written === undefined) act();
    else written.then(act, onRefused);
  }

  /**
   * Syncs the journal to disk. Rejects with StorageError, and then later records fail with it as
   * well.
   */
  async sync(when?: SyncTime): Promise<void> {
    try {
      await this.journal.sync(when);
    } catch (error) {
      if (error instanceof StorageError) this.failure = error;
      throw error;
    }
  }

  /** True if a letter with this id was received before. False without an id. */
  hasLetter(id: string | undefined): boolean {
    return id !== undefined && this.history.letters.isKnown(id);
  }

  draftCall(call: RequestedCall): void {
    this.drafts.set(call.id, { ...call, number: this.drafts.size + 1 });
  }

  isDrafted(id: string): boolean {
    return this.drafts.has(id);
  }

  forgetDrafts(): void {
    this.drafts.clear();
  }

  requestedCall(id: string): NumberedCall | undefined {
    return this.drafts.get(id) ?? this.history.calls.get(id);
  }
}

const CLOSED = 'The session is closed.';
