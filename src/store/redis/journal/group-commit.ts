/**
 * Sends journal records of all agents of a session to Redis in batches and in sequence, so that
 * they are stored in the order in which they were written.
 */
import { RecordsLostError, StorageError } from '../../../protocol/skein-error.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { refusalError } from '../connection/retry-while-refused.js';
import type { SwarmKeys } from '../connection/swarm-keys.js';
import { type Scope, scopeLost } from '../leases/write-scopes.js';
import { type AddedRecord, appendRecords, type JournalAddition } from './append-records.js';
import { MAX_INLINE_LINE, storeLongLine } from './list-lines.js';

/** Maximum number of records and of characters in a batch. */
const MAX_BATCH_RECORDS = 500;
const MAX_BATCH_LENGTH = 1024 * 1024;
/** Maximum number of characters that wait for Redis. */
const MAX_WAITING_LENGTH = 64 * 1024 * 1024;

/** The journal of an agent, as GroupCommit sees it. */
export interface JournalWriter {
  readonly agent: string;
  readonly parent: string | null;
  readonly scope: Scope;
  /** Called when Redis has stored `count` more records. */
  onStored(count: number): void;
  /** Called when Redis refuses the records; later records of the journal are refused too. */
  onRefused(why: StorageError): void;
  /** Called, before `onRefused`, if a process with a newer epoch has the journal. */
  onFenced(why: StorageError): void;
}

interface WaitingRecord {
  readonly writer: JournalWriter;
  /** Position in the list, counted from 1. */
  readonly position: number;
  readonly line: string;
  readonly event: string;
}

export class GroupCommit {
  private readonly redis: RedisConnections;
  private readonly keys: SwarmKeys;
  /** Folder with a copy of the session, for the message about lost records. Undefined if there is none. */
  private readonly mirror: string | undefined;
  private waiting: WaitingRecord[] = [];
  private length = 0;
  private readonly refused = new WeakSet<JournalWriter>();
  private running: Promise<void> | undefined;

  constructor(redis: RedisConnections, keys: SwarmKeys, mirror: string | undefined) {
    this.redis = redis;
    this.keys = keys;
    this.mirror = mirror;
  }

  /** Throws StorageError if too many records wait already. */
  add(record: WaitingRecord): void {
    const length = record.line.length + record.event.length;
    if (this.length + length > MAX_WAITING_LENGTH) {
      const why = this.redis.outage ?? 'Redis is too slow';
      throw new StorageError(
        `${why}, and no more than ${MAX_WAITING_LENGTH / 1024 / 1024} MB can wait for it.`,
      );
    }
    this.length += length;
    this.waiting.push(record);
    this.running ??= this.run();
  }

  /** Resolves when all records added so far are stored or refused. Never rejects. */
  async settled(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    // Wait for the other records of this tick.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) await this.commit(this.next());
    this.running = undefined;
  }

  private next(): readonly WaitingRecord[] {
    let length = 0;
    let count = 0;
    for (const { line, event } of this.waiting) {
      length += Math.min(line.length, MAX_INLINE_LINE) + event.length;
      if (count === MAX_BATCH_RECORDS || (count > 0 && length > MAX_BATCH_LENGTH)) break;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }

  private async commit(batch: readonly WaitingRecord[]): Promise<void> {
    const records = batch.filter(({ writer }) => !this.refused.has(writer));
    const parts = partsOf(records);
    try {
      const verdicts = parts.size === 0 ? [] : await this.send(parts, records);
      for (const [writer, part] of parts) {
        const refusal = this.refusal(writer, part, verdicts[part.index] ?? '');
        if (refusal === undefined) writer.onStored(part.count);
        else this.refuse(writer, refusal);
      }
    } catch (error) {
      const why = refusalError(this.redis, error);
      for (const writer of parts.keys()) this.refuse(writer, why);
    }
    for (const { line, event } of batch) this.length -= line.length + event.length;
  }

  private async send(parts: Parts, waiting: readonly WaitingRecord[]): Promise<readonly string[]> {
    const journals = [...parts].map(([{ agent, parent, scope }, { first }]): JournalAddition => {
      return { agent, parent, scope: scope.name, claim: scope.claim, first };
    });
    const records: AddedRecord[] = [];
    for (const { writer, line, event } of waiting) {
      const stored =
        line.length > MAX_INLINE_LINE ? await storeLongLine(this.redis, this.keys, line) : line;
      records.push({ journal: parts.get(writer)?.index ?? 0, line: stored, event });
    }
    return appendRecords(this.redis, this.keys, journals, records);
  }

  private refusal(writer: JournalWriter, part: Part, verdict: string): StorageError | undefined {
    const { agent, scope } = writer;
    const [outcome, detail = ''] = verdict.split(' ');
    if (outcome === 'OK') return undefined;
    if (outcome === 'LOST') {
      const why = scopeLost(scope, detail);
      scope.lose(why);
      return why;
    }
    if (outcome !== 'GAP') {
      const why = agentTakenOver(agent);
      writer.onFenced(why);
      return why;
    }
    return this.recordsLost(agent, part.first - 1 - Number(detail));
  }

  private recordsLost(agent: string, lost: number): RecordsLostError {
    const number = lost === 1 ? '1 stored record' : `${lost} stored records`;
    const copy = this.mirror === undefined ? '' : `; the copy in ${this.mirror} has them`;
    return new RecordsLostError(`Redis has lost ${number} of agent ${agent}${copy}.`);
  }

  /** Refuses further records of the journal if Redis has fewer than it had acknowledged. Never rejects. */
  async verify(writer: JournalWriter & { readonly stored: number }): Promise<void> {
    const { agent, stored } = writer;
    try {
      const length = Number(await this.redis.call('LLEN', this.keys.journal(agent)));
      if (length >= stored || this.refused.has(writer)) return;
      this.refuse(writer, this.recordsLost(agent, stored - length));
    } catch {
      // The next record of the journal detects the loss.
    }
  }

  private refuse(writer: JournalWriter, why: StorageError): void {
    this.refused.add(writer);
    writer.onRefused(why);
  }
}

export const agentTakenOver = (agent: string): StorageError =>
  new StorageError(`Another process has taken over agent ${agent}; nothing more is written here.`);

/** The records of a journal in a batch: index of the journal, first position, number of records. */
interface Part {
  readonly index: number;
  readonly first: number;
  count: number;
}
type Parts = ReadonlyMap<JournalWriter, Part>;

const partsOf = (records: readonly WaitingRecord[]): Parts => {
  const parts = new Map<JournalWriter, Part>();
  for (const { writer, position } of records) {
    const part = parts.get(writer);
    if (part !== undefined) part.count += 1;
    else parts.set(writer, { index: parts.size, first: position, count: 1 });
  }
  return parts;
};
