/** The transcript of an agent as it was at a moment of the log: nothing in it is from later. */
import { SkeinError } from '../../protocol/errors.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { TranscriptFold } from '../transcript/transcript-fold.js';
import type { OpenTranscript, TranscriptItem } from '../transcript/transcript-item.js';

type Journals = Pick<SessionStore, 'records'>;

/** So many records are read before anybody else is heard. */
const PIECE = 200;

export class ReplayTranscript implements OpenTranscript {
  private readonly records: () => AsyncIterator<JournalRecord>;
  private readonly listeners = new Set<() => void>();
  private readonly onClose: () => void;
  private reading: Reading;
  /** What is shown, while another one is being read. */
  private shown: TranscriptFold;
  private trouble: TranscriptItem | undefined;
  private wanted = 0;
  private going: Promise<void> | undefined;
  private isClosed = false;

  constructor(journals: Journals, session: string, agent: string, onClose: () => void) {
    this.records = () => journals.records(session, agent)[Symbol.asyncIterator]();
    this.onClose = onClose;
    this.reading = new Reading(this.records());
    this.shown = this.reading.fold;
  }

  get items(): readonly TranscriptItem[] {
    return this.trouble === undefined ? this.shown.items : [...this.shown.items, this.trouble];
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

  /** To what it was when its journal had so many entries. Resolves when that is shown. */
  goTo(seq: number): Promise<void> {
    if (seq === this.wanted) return this.going ?? Promise.resolve();
    this.wanted = seq;
    this.going ??= this.go();
    return this.going;
  }

  private async go(): Promise<void> {
    try {
      while (!this.isClosed && this.reading.upTo !== this.wanted) await this.read(this.wanted);
      this.trouble = undefined;
      this.shown = this.reading.fold;
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      const text = `It cannot be read further: ${error.message}`;
      this.trouble = { kind: 'note', at: 0, text, isTrouble: true };
      this.reading = new Reading(this.records());
    }
    this.going = undefined;
    for (const listener of this.listeners) listener();
  }

  /** Back means from the beginning: what a record changes is not taken back. */
  private async read(upTo: number): Promise<void> {
    if (upTo < this.reading.upTo) {
      await this.reading.end();
      this.reading = new Reading(this.records());
    }
    while (!this.isClosed && upTo === this.wanted && (await this.reading.take(upTo))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** A journal on its way into a transcript. */
class Reading {
  readonly fold = new TranscriptFold();
  /** All entries up to this one are in it. */
  upTo = 0;
  private readonly records: AsyncIterator<JournalRecord>;
  /** Read, and too late for the moment. */
  private next: JournalRecord | undefined;

  constructor(records: AsyncIterator<JournalRecord>) {
    this.records = records;
  }

  /** A piece; false when there is no more up to there. */
  async take(upTo: number): Promise<boolean> {
    for (let many = 0; many < PIECE; many += 1) {
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
