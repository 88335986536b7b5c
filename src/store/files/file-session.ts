/** A session that this process owns, as a folder of files with a single writer. */
import { join } from 'node:path';
import { KeyedMutex } from '../../lib/async/keyed-mutex.js';
import type { Clock } from '../../protocol/clock.js';
import type { Journal } from '../../protocol/session/journal.js';
import type { Lease } from '../../protocol/session/leases.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import type { SessionMeta } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { StorageError, UsageError } from '../../protocol/skein-error.js';
import { readRegularFile } from './io/open-regular-file.js';
import { replaceStoredFileDurably } from './io/replace-stored-file.js';
import { DescriptorPool } from './journal/descriptor-pool.js';
import { EventIndex, parseEvent } from './journal/event-index.js';
import { JournalFile, journalPath } from './journal/journal-file.js';
import { LineFile } from './journal/line-file.js';
import { linesOf } from './journal/line-tail.js';
import { readIndex, seqOf, unindexedRecords } from './journal/unindexed-records.js';

export class FileSession implements OwnedSession {
  meta: SessionMeta;
  readonly epoch: number;
  /** Never aborts, because readers drop the records of a process that has lost the session. */
  readonly lost: AbortSignal = new AbortController().signal;
  readonly damage: readonly string[];
  private readonly folder: string;
  /** Last record of each agent that the event index knew when the session was opened. */
  private readonly lastCited: ReadonlyMap<string, number>;
  private readonly lease: Lease;
  private readonly clock: Clock;
  private readonly descriptors = new DescriptorPool();
  private readonly eventFile: LineFile;
  private readonly index: EventIndex;
  private readonly journals = new Map<string, JournalFile>();
  /** Closing journals. */
  private readonly ending = new Set<Promise<void>>();
  /** Orders the writes of each file: the last call wins. */
  private readonly writes = new KeyedMutex();
  private isClosed = false;

  constructor(
    folder: string,
    meta: SessionMeta,
    lease: Lease,
    clock: Clock,
    redact?: (text: string) => string,
  ) {
    this.folder = folder;
    this.meta = meta;
    this.lease = lease;
    this.epoch = lease.epoch;
    this.clock = clock;
    const events = join(folder, 'events.jsonl');
    const { position, lastCited, damage } = readIndex(events);
    this.lastCited = lastCited;
    this.damage = damage;
    this.eventFile = new LineFile(events);
    this.index = new EventIndex(meta.id, this.eventFile, position, redact);
    for (const { agent, parent, record } of unindexedRecords(folder, position)) {
      this.index.add(agent, parent, record);
    }
  }

  async journal(agent: string, parent: string | null): Promise<Journal> {
    const existing = this.journals.get(agent);
    if (existing !== undefined) return existing;
    // The lease is released, so this process may not write any more (law 8).
    if (this.isClosed) throw new StorageError(`The session ${this.meta.id} is closed.`);
    const path = journalPath(this.folder, agent);
    const journal = new JournalFile(
      path,
      this.epoch,
      this.clock,
      this.descriptors,
      (record) => this.index.add(agent, parent, record),
      this.lastCited.get(agent),
      this.lease.isAfterRelease ? this.epoch - 1 : 0,
    );
    this.journals.set(agent, journal);
    return journal;
  }

  async closeJournal(agent: string): Promise<void> {
    const journal = this.journals.get(agent);
    if (journal === undefined) return;
    this.journals.delete(agent);
    const ending = journal.end();
    this.ending.add(ending);
    await ending.finally(() => this.ending.delete(ending));
  }

  journalFile(agent: string): string {
    return journalPath(this.folder, agent);
  }

  async readEvents(from = 1, to = Number.POSITIVE_INFINITY): Promise<readonly SwarmEvent[]> {
    this.index.flush();
    const events: SwarmEvent[] = [];
    for (const line of linesOf(this.eventFile.path)) {
      const seq = seqOf(line) ?? from;
      if (seq > to) break;
      const event = seq < from ? undefined : parseEvent(line);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  async updateMeta(change: Partial<SessionMeta>): Promise<void> {
    this.meta = { ...this.meta, ...change };
    await this.writes.run('session.json', () =>
      replaceStoredFileDurably(
        join(this.folder, 'session.json'),
        JSON.stringify(this.meta, null, 2),
      ),
    );
  }

  async putArtifact(name: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.artifactDirectory(), name);
    await this.writes.run(path, () => replaceStoredFileDurably(path, bytes));
  }

  async readArtifact(name: string): Promise<Uint8Array> {
    return readArtifactFile(this.artifactDirectory(), name);
  }

  async takeBack(): Promise<void> {}

  fenceOf(): undefined {}

  artifactDirectory(): string {
    return join(this.folder, 'artifacts');
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.index.flush();
    const journals = [...this.journals.values()];
    this.journals.clear();
    await Promise.all([...journals.map((journal) => journal.end()), ...this.ending]);
    this.eventFile.close();
    // Wait for metadata writes that no caller awaits: the next owner must not read old metadata.
    await this.writes.run('session.json', async () => {});
    await this.lease.release();
  }
}

/** Throws UsageError if there is no such artifact. */
export const readArtifactFile = (directory: string, name: string): Uint8Array => {
  try {
    return readRegularFile(join(directory, name));
  } catch (error) {
    throw new UsageError(`There is no artifact "${name}".`, { cause: error });
  }
};
