/** An agent's memory while it lives: what it writes down it also knows, in that order. */
import { CacheLog } from '../../context/cache/cache-log.js';
import { accountFor, conversationOf, stepOf } from '../../context/history/conversation.js';
import { History } from '../../context/history/history.js';
import { inherit } from '../../context/history/inherit.js';
import { StorageError } from '../../protocol/errors.js';
import type { WantedCall } from '../../protocol/model/wire.js';
import type { JournalBody, JournalRecord } from '../../protocol/session/journal.js';
import type { Journal, SyncTime } from '../../protocol/session/store.js';

/** What is known of an agent, without the means to write. */
export interface FoldedState {
  readonly history: History;
  /** What the server has in its cache of it. */
  readonly cache: CacheLog;
}

/** Folds records; `base` is what the agent inherits from the one that it is a fork of. */
export const foldRecords = (past: readonly JournalRecord[], base?: FoldedState): FoldedState => {
  const history = new History();
  const cache = new CacheLog();
  if (base !== undefined) {
    inherit(history, base.history);
    cache.takeOver(base.cache);
  }
  const conversation = conversationOf(past.map(stepOf));
  for (const record of past) {
    const counts = conversation.has(record.seq);
    if (counts) history.apply(record);
    else accountFor(history, record);
    cache.apply(record, counts);
  }
  return { history, cache };
};

export class JournaledState implements FoldedState {
  readonly history: History;
  readonly cache: CacheLog;
  private readonly journal: Journal;
  private failure: StorageError | undefined;
  private isOver = false;
  /** Of the last record. */
  seq: number;
  /** Inputs of the calls that the present attempt asks for; the message may not have landed yet. */
  private readonly wanted = new Map<string, WantedCall>();

  /** `past` is all that the journal holds already. */
  constructor(journal: Journal, past: readonly JournalRecord[], base?: FoldedState) {
    this.journal = journal;
    this.seq = past.at(-1)?.seq ?? 0;
    const { history, cache } = foldRecords(past, base);
    this.history = history;
    this.cache = cache;
  }

  /** Throws a StorageError; then nothing was written and nothing is known. */
  record(body: JournalBody): JournalRecord {
    if (this.failure !== undefined) throw this.failure;
    if (this.isOver && body.type !== 'hook.ran') throw new StorageError(CLOSED);
    const record = this.journal.append(body);
    this.seq = record.seq;
    this.history.apply(record);
    this.cache.apply(record);
    return record;
  }

  /** From now on nothing is recorded: somebody who could not say so has met a disk that failed. */
  fail(error: StorageError): void {
    this.failure ??= error;
  }

  /** Whatever the agent still does has come too late to be written down; the last hooks have not. */
  end(): void {
    this.isOver = true;
  }

  close(): void {
    this.failure ??= new StorageError(CLOSED);
  }

  /**
   * Undefined when what was recorded is where the next owner finds it: what has an effect waits for that.
   * Rejects with a StorageError, which is the failure of whatever is recorded next.
   */
  written(): Promise<void> | undefined {
    return this.journal.written()?.catch((error: unknown) => {
      if (error instanceof StorageError) this.failure = error;
      throw error;
    });
  }

  /** At once where that is no wait. */
  whenWritten(act: () => void, refused: (error: Error) => void): void {
    const written = this.written();
    if (written === undefined) act();
    else written.then(act, refused);
  }

  /** A sync that fails is the failure of whatever is recorded next. */
  async sync(when?: SyncTime): Promise<void> {
    try {
      await this.journal.sync(when);
    } catch (error) {
      if (error instanceof StorageError) this.failure = error;
      throw error;
    }
  }

  /** A letter with this name came already; what comes without one is always new. */
  hasLetter(name: string | undefined): boolean {
    return name !== undefined && this.history.letters.isKnown(name);
  }

  draftCall(call: WantedCall): void {
    this.wanted.set(call.id, call);
  }

  isDrafted(id: string): boolean {
    return this.wanted.has(id);
  }

  forgetDrafts(): void {
    this.wanted.clear();
  }

  wantedCall(id: string): WantedCall | undefined {
    return this.wanted.get(id) ?? this.history.calls.get(id);
  }
}

const CLOSED = 'The session is closed.';
