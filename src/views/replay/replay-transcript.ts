/** Transcript of an agent at a position of the log, without later records. */

import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { TranscriptFold } from '../transcript/transcript-fold.js';
import type { OpenTranscript, TranscriptItem } from '../transcript/transcript-item.js';

type Journals = Pick<SessionStore, 'records'>;

/** Records that are read before yielding to the event loop. */
const BATCH_RECORDS = 200;

export class ReplayTranscript implements OpenTranscript {
  private readonly records: () => AsyncIterator<JournalRecord>;
  private readonly listeners = new Set<() => void>();
  private readonly onClose: () => void;
  private reading: JournalReading;
  /** Fold that is shown while another position is being read. */
  private shown: TranscriptFold;
  private problem: TranscriptItem | undefined;
  private targetSeq = 0;
  private seeking: Promise<void> | undefined;
  private isClosed = false;

  constructor(journals: Journals, session: string, agent: string, onClose: () => void) {
    this.records = () => journals.records(session, agent)[Symbol.asyncIterator]();
    this.onClose = onClose;
    this.reading = new JournalReading(this.records());
    this.shown = this.reading.fold;
  }

  get items(): readonly TranscriptItem[] {
    return this.problem === undefined ? this.shown.items : [...this.shown.items, this.problem];
  }

  get left(): number {
    return this.shown.left;
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.isClosed = true;
    this.listeners.clear();
    void this.reading.end();
    this.onClose();
  }

  /** Seeks to the record number `seq`. Resolves when that position is shown. */
  goTo(seq: number): Promise<void> {
    if (seq === this.targetSeq) return this.seeking ?? Promise.resolve();
    this.targetSeq = seq;
    this.seeking ??= this.seek();
    return this.seeking;
  }

  private async seek(): Promise<void> {
    try {
      while (!this.isClosed && this.reading.upTo !== this.targetSeq)
        await this.read(this.targetSeq);
      this.problem = undefined;
      this.shown = this.reading.fold;
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      const text = `The journal cannot be read further: ${error.message}`;
      this.problem = { kind: 'note', at: 0, text, isProblem: true };
      this.reading = new JournalReading(this.records());
    }
    this.seeking = undefined;
    for (const listener of this.listeners) listener();
  }

  /** Backward seeks start at the first record, because a fold cannot be undone. */
  private async read(upTo: number): Promise<void> {
    if (upTo < this.reading.upTo) {
      await this.reading.end();
      this.reading = new JournalReading(this.records());
    }
    while (!this.isClosed && upTo === this.targetSeq && (await this.reading.take(upTo))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** A journal that is being folded into a transcript. */
class JournalReading {
  readonly fold = new TranscriptFold();
  /** Number of the newest folded record. */
  upTo = 0;
  private readonly records: AsyncIterator<JournalRecord>;
  /** Record that was read and is after the target position. */
  private next: JournalRecord | undefined;

  constructor(records: AsyncIterator<JournalRecord>) {
    this.records = records;
  }

  /** Folds one batch of records. Returns false if there are none left up to `upTo`. */
  async take(upTo: number): Promise<boolean> {
    for (let count = 0; count < BATCH_RECORDS; count += 1) {
      const record = this.next ?? (await this.records.next()).value;
      if (record === undefined || record.seq > upTo) {
        this.next = record ?? undefined;
        this.upTo = upTo;
        return false;
      }
      this.next = undefined;
      this.upTo = record.seq;
      this.fold.take(record);
    }
    return true;
  }

  async end(): Promise<void> {
    await this.records.return?.();
  }
}
