/** One agent's journal in Redis. A record is numbered at once, and is there when Redis has taken it. */
import type { Clock } from '../../../protocol/clock.js';
import { StorageError } from '../../../protocol/errors.js';
import {
  formatRecord,
  JOURNAL_VERSION,
  type JournalBody,
  type JournalRecord,
} from '../../../protocol/session/journal.js';
import type { Journal, JournalContents } from '../../../protocol/session/store.js';
import { eventTail } from '../../files/journal/event-index.js';
import type { Scope } from '../leases/write-scopes.js';
import type { GroupCommit, JournalWriter } from './group-commit.js';

export interface JournalOptions {
  readonly agent: string;
  readonly parent: string | null;
  readonly scope: Scope;
  readonly past: JournalContents;
  /** How many lines are in its list. */
  readonly length: number;
  readonly commit: GroupCommit;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  /** Somebody else has opened it since. */
  readonly fenced: (why: StorageError) => void;
  /** Redis has not taken what was written. */
  readonly refused: (why: StorageError) => void;
}

interface Listener {
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
  private readonly options: JournalOptions;
  private seq: number;
  /** Lines in the list, with those that are on their way; and those that have come. */
  private length: number;
  private arrived: number;
  private failure: StorageError | undefined;
  private isEnded = false;
  private listeners: Listener[] = [];

  constructor(options: JournalOptions) {
    this.options = options;
    this.agent = options.agent;
    this.parent = options.parent;
    this.scope = options.scope;
    this.past = options.past;
    this.seq = options.past.records.at(-1)?.seq ?? 0;
    this.length = options.length;
    this.arrived = options.length;
  }

  append(body: JournalBody): JournalRecord {
    const { agent, parent, scope } = this;
    const { clock, commit, redact } = this.options;
    if (this.failure !== undefined) throw this.failure;
    if (this.isEnded) throw this.ended();
    if (scope.lost.aborted) throw scope.lost.reason;
    const head = { v: JOURNAL_VERSION, seq: this.seq + 1, ts: clock.now(), epoch: scope.epoch };
    // Much faster than a second spread, and there are many records.
    const record = Object.assign(head, body) as JournalRecord;
    const event = eventTail({ swarm: scope.swarm, agent, parent }, record, redact);
    commit.add({ writer: this, place: this.length + 1, line: formatRecord(record), event });
    this.seq += 1;
    this.length += 1;
    return record;
  }

  written(): Promise<void> | undefined {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (this.isEnded) return Promise.reject(this.ended());
    if (this.arrived === this.length) return undefined;
    const last = this.listeners.at(-1);
    if (last?.upTo === this.length) return last.promise;
    let [resolve, reject]: [Listener['resolve'], Listener['reject']] = [() => {}, () => {}];
    const promise = new Promise<void>((yes, no) => {
      [resolve, reject] = [yes, no];
    });
    this.listeners.push({ upTo: this.length, promise, resolve, reject });
    return promise;
  }

  async sync(): Promise<void> {
    await this.written();
  }

  taken(count: number): void {
    this.arrived += count;
    const waiting = this.listeners;
    this.listeners = waiting.filter(({ upTo }) => upTo > this.arrived);
    for (const { upTo, resolve } of waiting) if (upTo <= this.arrived) resolve();
  }

  refused(why: StorageError): void {
    this.failure = why;
    for (const { reject } of this.listeners) reject(why);
    this.listeners = [];
    this.options.refused(why);
  }

  fenced(why: StorageError): void {
    this.options.fenced(why);
  }

  /** What was written is there, and nothing can be added. What was refused before was said before. */
  async end(): Promise<void> {
    const isOpen = this.failure === undefined && !this.isEnded;
    const written = isOpen ? this.written() : undefined;
    this.isEnded = true;
    await written;
  }

  /** Made when somebody needs it: each has a stack, and every journal is closed one day. */
  private ended(): StorageError {
    return new StorageError(`The journal of agent ${this.agent} is closed.`);
  }
}
