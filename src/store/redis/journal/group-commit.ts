/**
 * What the agents of a session write, on its way to Redis: everything that was added meanwhile goes out
 * together, one batch after the other, so that it is there in the order in which it was written.
 */
import { StorageError } from '../../../protocol/errors.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { refusedBy } from '../connection/redis-errors.js';
import type { SwarmKeys } from '../connection/redis-keys.js';
import { lostTo, type Scope } from '../leases/write-scopes.js';
import { type AddedRecord, appendRecords, type JournalAddition } from './append-records.js';
import { keepLine, LONGEST_LINE } from './long-lines.js';

/** A batch is no larger. */
const MOST_RECORDS = 500;
const MOST_LENGTH = 1024 * 1024;
/** More does not wait for a Redis that is away. */
const MOST_WAITING = 64 * 1024 * 1024;

/** A journal, as one who brings its records to Redis sees it. */
export interface JournalWriter {
  readonly agent: string;
  readonly parent: string | null;
  readonly scope: Scope;
  /** So many more of its records are there. */
  taken(count: number): void;
  /** None that was not taken will be. */
  refused(why: StorageError): void;
  /** Beside that: somebody with a newer epoch has the journal. */
  fenced(why: StorageError): void;
}

interface Waiting {
  readonly writer: JournalWriter;
  /** In its list, counted from 1. */
  readonly place: number;
  readonly line: string;
  readonly event: string;
}

export class GroupCommit {
  private readonly broker: RedisConnections;
  private readonly keys: SwarmKeys;
  /** Where there is a copy of what Redis may lose. */
  private readonly mirror: string;
  private waiting: Waiting[] = [];
  private length = 0;
  private readonly refused = new WeakSet<JournalWriter>();
  private running: Promise<void> | undefined;

  constructor(broker: RedisConnections, keys: SwarmKeys, mirror: string) {
    this.broker = broker;
    this.keys = keys;
    this.mirror = mirror;
  }

  /** Throws a StorageError when too much waits already. */
  add(record: Waiting): void {
    const length = record.line.length + record.event.length;
    if (this.length + length > MOST_WAITING) {
      const why = this.broker.trouble ?? 'Redis is too slow';
      throw new StorageError(
        `${why}, and no more than ${MOST_WAITING / 1024 / 1024} MB can wait for it.`,
      );
    }
    this.length += length;
    this.waiting.push(record);
    this.running ??= this.run();
  }

  /** Everything added so far was taken or refused. Never rejects. */
  async settled(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    // What is written in the same tick goes along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) await this.commit(this.next());
    this.running = undefined;
  }

  private next(): readonly Waiting[] {
    let length = 0;
    let count = 0;
    for (const { line, event } of this.waiting) {
      length += Math.min(line.length, LONGEST_LINE) + event.length;
      if (count === MOST_RECORDS || (count > 0 && length > MOST_LENGTH)) break;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }

  private async commit(batch: readonly Waiting[]): Promise<void> {
    const records = batch.filter(({ writer }) => !this.refused.has(writer));
    const parts = partsOf(records);
    try {
      const verdicts = parts.size === 0 ? [] : await this.send(parts, records);
      for (const [writer, part] of parts) {
        const refusal = this.refusal(writer, part, verdicts[part.index] ?? '');
        if (refusal === undefined) writer.taken(part.count);
        else this.refuse(writer, refusal);
      }
    } catch (error) {
      const why = refusedBy(this.broker, error);
      for (const writer of parts.keys()) this.refuse(writer, why);
    }
    for (const { line, event } of batch) this.length -= line.length + event.length;
  }

  private async send(parts: Parts, waiting: readonly Waiting[]): Promise<readonly string[]> {
    const journals = [...parts].map(([{ agent, parent, scope }, { first }]): JournalAddition => {
      return { agent, parent, scope: scope.name, claim: scope.claim, first };
    });
    const records: AddedRecord[] = [];
    for (const { writer, line, event } of waiting) {
      const kept = line.length > LONGEST_LINE ? await keepLine(this.broker, this.keys, line) : line;
      records.push({ journal: parts.get(writer)?.index ?? 0, line: kept, event });
    }
    return appendRecords(this.broker, this.keys, journals, records);
  }

  private refusal(writer: JournalWriter, part: Part, verdict: string): StorageError | undefined {
    const { agent, scope } = writer;
    const [word, said = ''] = verdict.split(' ');
    if (word === 'OK') return undefined;
    if (word === 'LOST') {
      const why = lostTo(scope, said);
      scope.lose(why);
      return why;
    }
    if (word !== 'GAP') {
      const why = takenFrom(agent);
      writer.fenced(why);
      return why;
    }
    return new StorageError(
      `Redis has lost ${part.first - 1 - Number(said)} records of agent ${agent} that it had taken; ` +
        `the copy in ${this.mirror} has them.`,
    );
  }

  private refuse(writer: JournalWriter, why: StorageError): void {
    this.refused.add(writer);
    writer.refused(why);
  }
}

export const takenFrom = (agent: string): StorageError =>
  new StorageError(`Another process has taken over agent ${agent}; nothing more is written here.`);

/** What is of one journal in a batch: which of those it is, its first place, and how many records. */
interface Part {
  readonly index: number;
  readonly first: number;
  count: number;
}
type Parts = ReadonlyMap<JournalWriter, Part>;

const partsOf = (records: readonly Waiting[]): Parts => {
  const parts = new Map<JournalWriter, Part>();
  for (const { writer, place } of records) {
    const part = parts.get(writer);
    if (part !== undefined) part.count += 1;
    else parts.set(writer, { index: parts.size, first: place, count: 1 });
  }
  return parts;
};
