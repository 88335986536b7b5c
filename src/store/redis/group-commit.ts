/**
 * What the agents of a session write, on its way to Redis: everything that was added meanwhile goes out
 * together, one batch after the other, so that it is there in the order in which it was written.
 */
import { StorageError } from '../../protocol/errors.js';
import { type AddedRecord, appendRecords, type JournalAddition } from './append-records.js';
import type { Broker } from './broker.js';
import type { SwarmKeys } from './redis-keys.js';
import { lostTo, type Scope } from './scope-keeper.js';
import { keepLine, LONGEST_LINE } from './swarm-lines.js';

/** A batch is no larger. */
const MOST_RECORDS = 500;
const MOST_LENGTH = 1024 * 1024;
/** More does not wait for a Redis that is away. */
const MOST_WAITING = 64 * 1024 * 1024;
/** Redis is there and cannot take it just now. */
const PASSING = /^(?:LOADING|BUSY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|NOREPLICAS)\b/;
const PAUSE_MS = 250;

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
  private readonly broker: Broker;
  private readonly keys: SwarmKeys;
  /** Where there is a copy of what Redis may lose. */
  private readonly mirror: string;
  private waiting: Waiting[] = [];
  private length = 0;
  private readonly refused = new WeakSet<JournalWriter>();
  private running: Promise<void> | undefined;

  constructor(broker: Broker, keys: SwarmKeys, mirror: string) {
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
    const counts = new Map<JournalWriter, number>();
    for (const { writer } of records) counts.set(writer, (counts.get(writer) ?? 0) + 1);
    const writers = [...counts.keys()];
    try {
      const verdicts = writers.length === 0 ? [] : await this.send(writers, records);
      for (const [index, writer] of writers.entries()) {
        const refusal = this.refusal(writer, records, verdicts[index] ?? '');
        if (refusal === undefined) writer.taken(counts.get(writer) ?? 0);
        else this.refuse(writer, refusal);
      }
    } catch (error) {
      const why = new StorageError(`Redis did not take a record: ${(error as Error).message}`, {
        cause: error,
      });
      for (const writer of writers) this.refuse(writer, why);
    }
    for (const { line, event } of batch) this.length -= line.length + event.length;
  }

  private async send(
    writers: readonly JournalWriter[],
    waiting: readonly Waiting[],
  ): Promise<readonly string[]> {
    const numbers = new Map(writers.map((writer, index) => [writer, index]));
    const journals = writers.map((writer): JournalAddition => {
      const { agent, parent, scope } = writer;
      const first = firstPlace(waiting, writer);
      return { agent, parent, scope: scope.name, epoch: scope.epoch, first };
    });
    for (;;) {
      try {
        const records: AddedRecord[] = [];
        for (const { writer, line, event } of waiting) {
          const kept =
            line.length > LONGEST_LINE ? await keepLine(this.broker, this.keys, line) : line;
          records.push({ journal: numbers.get(writer) ?? 0, line: kept, event });
        }
        return await appendRecords(this.broker, this.keys, journals, records);
      } catch (error) {
        if (!PASSING.test((error as Error).message)) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  private refusal(
    writer: JournalWriter,
    waiting: readonly Waiting[],
    verdict: string,
  ): StorageError | undefined {
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
    const lost = firstPlace(waiting, writer) - 1 - Number(said);
    return new StorageError(
      `Redis has lost ${lost} records of agent ${agent} that it had taken; ` +
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

const firstPlace = (waiting: readonly Waiting[], writer: JournalWriter): number =>
  waiting.find((record) => record.writer === writer)?.place ?? 1;
