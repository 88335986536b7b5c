/** The journal of an agent in Redis. Records are numbered at once and stored later, in batches. */
import type { Clock } from '../../../protocol/clock.js';
import type { Journal, JournalContents } from '../../../protocol/session/journal.js';
import {
  formatRecord,
  JOURNAL_VERSION,
  type JournalBody,
  type JournalRecord,
} from '../../../protocol/session/journal-record.js';
import { StorageError } from '../../../protocol/skein-error.js';
import { eventTail } from '../../files/journal/event-index.js';
import type { Scope } from '../leases/write-scopes.js';
import type { GroupCommit, JournalWriter } from './group-commit.js';

interface RedisJournalOptions {
  readonly agent: string;
  readonly parent: string | null;
  readonly scope: Scope;
  readonly past: JournalContents;
  /** Number of lines in the list. */
  readonly length: number;
  readonly commit: GroupCommit;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  /** Called when another process has opened the journal. */
  readonly onFenced: (why: StorageError) => void;
  /** Called when Redis has refused records. */
  readonly onRefused: (why: StorageError) => void;
}

interface StoredListener {
  readonly upTo: number;
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (why: StorageError) => void;
}

export class RedisJournal implements Journal, JournalWriter {
  readonly agent: string;
  readonly parent: string | null;
  readonly scope: Scope;
  readonly past: JournalContents;
  private readonly options: RedisJournalOptions;
  private seq: number;
  /** Number of lines in the list, including records that are not stored yet. */
  private length: number;
  /** Number of lines that are stored. */
  stored: number;
  private failure: StorageError | undefined;
  private isEnded = false;
  private listeners: StoredListener[] = [];

  constructor(options: RedisJournalOptions) {
    this.options = options;
    this.agent = options.agent;
    this.parent = options.parent;
    this.scope = options.scope;
    this.past = options.past;
    this.seq = options.past.records.at(-1)?.seq ?? 0;
    this.length = options.length;
    this.stored = options.length;
  }

  get acknowledged(): number {
    return this.seq - (this.length - this.stored);
  }

  append(body: JournalBody): JournalRecord {
    const { agent, parent, scope } = this;
    const { clock, commit, redact } = this.options;
    if (this.failure !== undefined) throw this.failure;
    if (this.isEnded) throw this.ended();
    if (scope.lost.aborted) throw scope.lost.reason;
    const head = { v: JOURNAL_VERSION, seq: this.seq + 1, ts: clock.now(), epoch: scope.epoch };
    // Faster than a second spread; this is a hot path.
    const record = Object.assign(head, body) as JournalRecord;
    const event = eventTail({ swarm: scope.swarm, agent, parent }, record, redact);
    commit.add({ writer: this, position: this.length + 1, line: formatRecord(record), event });
    this.seq += 1;
    this.length += 1;
    return record;
  }

  written(): Promise<void> | undefined {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (this.isEnded) return Promise.reject(this.ended());
    if (this.stored === this.length) return undefined;
    const last = this.listeners.at(-1);
    if (last?.upTo === this.length) return last.promise;
    let [resolve, reject]: [StoredListener['resolve'], StoredListener['reject']] = [
      () => {},
      () => {},
    ];
    const promise = new Promise<void>((fulfil, fail) => {
      [resolve, reject] = [fulfil, fail];
    });
    this.listeners.push({ upTo: this.length, promise, resolve, reject });
    return promise;
  }

  async sync(): Promise<void> {
    await this.written();
  }

  onStored(count: number): void {
    this.stored += count;
    const waiting = this.listeners;
    this.listeners = waiting.filter(({ upTo }) => upTo > this.stored);
    for (const { upTo, resolve } of waiting) if (upTo <= this.stored) resolve();
  }

  onRefused(why: StorageError): void {
    this.failure = why;
    for (const { reject } of this.listeners) reject(why);
    this.listeners = [];
    this.options.onRefused(why);
  }

  onFenced(why: StorageError): void {
    this.options.onFenced(why);
  }

  /**
   * Resolves when all records are stored. No records can be added later. Refusals before this call
   * were reported before.
   */
  async end(): Promise<void> {
    const isOpen = this.failure === undefined && !this.isEnded;
    const written = isOpen ? this.written() : undefined;
    this.isEnded = true;
    await written;
  }

  /** Created only when needed, because an error captures a stack. */
  private ended(): StorageError {
    return new StorageError(`The journal of agent ${this.agent} is closed.`);
  }
}
