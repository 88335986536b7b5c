/** A session that this process owns, as a folder of files: the only writer of its journals and index. */
import { join } from 'node:path';
import type { Clock } from '../../protocol/clock.js';
import { StorageError, UsageError } from '../../protocol/errors.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { Lease } from '../../protocol/session/leases.js';
import type { Journal, Session, SessionMeta } from '../../protocol/session/store.js';
import { readRegular } from './io/regular-file.js';
import { writeAtomically } from './io/write-atomically.js';
import { DescriptorPool } from './journal/descriptor-pool.js';
import { EventIndex, parseEvent } from './journal/event-index.js';
import { JournalFile } from './journal/journal-file.js';
import { journalPath } from './journal/journal-place.js';
import { LineFile } from './journal/line-file.js';
import { linesOf } from './journal/line-tail.js';
import { indexPositionIn, seqOf, unindexedRecords } from './journal/unindexed-records.js';

export class FileSession implements Session {
  meta: SessionMeta;
  readonly epoch: number;
  /** Readers drop what one writes that has lost it. */
  readonly lost: AbortSignal = new AbortController().signal;
  private readonly folder: string;
  private readonly lease: Lease;
  private readonly clock: Clock;
  private readonly open = new DescriptorPool();
  private readonly eventFile: LineFile;
  private readonly index: EventIndex;
  private readonly journals = new Map<string, JournalFile>();
  /** Journals that are being closed. */
  private readonly ending = new Set<Promise<void>>();
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
    const citations = indexPositionIn(events);
    this.eventFile = new LineFile(events);
    this.index = new EventIndex(meta.id, this.eventFile, citations, redact);
    for (const { agent, parent, record } of unindexedRecords(folder, citations)) {
      this.index.add(agent, parent, record);
    }
  }

  async journal(agent: string, parent: string | null): Promise<Journal> {
    const open = this.journals.get(agent);
    if (open !== undefined) return open;
    // Whoever comes too late is not its owner any more (law 8).
    if (this.isClosed) throw new StorageError(`The session ${this.meta.id} is closed.`);
    const path = journalPath(this.folder, agent);
    const journal = new JournalFile(path, this.epoch, this.clock, this.open, (record) =>
      this.index.add(agent, parent, record),
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
    const found: SwarmEvent[] = [];
    for (const line of linesOf(this.eventFile.path)) {
      const seq = seqOf(line) ?? from;
      if (seq > to) break;
      const event = seq < from ? undefined : parseEvent(line);
      if (event !== undefined) found.push(event);
    }
    return found;
  }

  async updateMeta(change: Partial<SessionMeta>): Promise<void> {
    this.meta = { ...this.meta, ...change };
    writeAtomically(join(this.folder, 'session.json'), JSON.stringify(this.meta, null, 2));
  }

  async putArtifact(name: string, bytes: Uint8Array): Promise<void> {
    writeAtomically(join(this.artifactDirectory(), name), bytes);
  }

  async readArtifact(name: string): Promise<Uint8Array> {
    return readArtifact(this.artifactDirectory(), name);
  }

  async reclaim(): Promise<void> {}

  fenceOf(): undefined {}

  artifactDirectory(): string {
    return join(this.folder, 'artifacts');
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.index.flush();
    const journals = [...this.journals.values()];
    this.journals.clear();
    await Promise.all([...journals.map((journal) => journal.end()), ...this.ending]);
    this.eventFile.close();
    await this.lease.release();
  }
}

export const readArtifact = (directory: string, name: string): Uint8Array => {
  try {
    return readRegular(join(directory, name));
  } catch (error) {
    throw new UsageError(`There is no artifact "${name}".`, { cause: error });
  }
};
