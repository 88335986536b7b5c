/** A session that this process owns, as a folder of files: the only writer of its journals and index. */
import fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../protocol/clock.js';
import { UsageError } from '../protocol/errors.js';
import type { SwarmEvent } from '../protocol/events.js';
import {
  formatRecord,
  JOURNAL_VERSION,
  type JournalBody,
  type JournalRecord,
  parseRecord,
} from '../protocol/journal.js';
import type { Journal, JournalContents, Session, SessionMeta } from '../protocol/store.js';
import { EventIndex, parseEvent } from './event-index.js';
import { readJournal } from './journal-lines.js';
import type { Lease } from './lease-file.js';
import { LineFile, readLines, storageError } from './line-file.js';
import { readRegular } from './regular-file.js';
import { journalPath } from './session-reading.js';

export class OwnedSession implements Session {
  meta: SessionMeta;
  readonly epoch: number;
  private readonly folder: string;
  private readonly lease: Lease;
  private readonly clock: Clock;
  private readonly eventFile: LineFile;
  private readonly index: EventIndex;
  private readonly journals = new Map<string, JournalFile>();

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
    putAsideIfDamaged(events);
    this.eventFile = new LineFile(events);
    this.index = new EventIndex(meta.id, this.eventFile, readEvents(events), redact);
  }

  async journal(agent: string, parent: string | null): Promise<Journal> {
    const open = this.journals.get(agent);
    if (open !== undefined) return open;
    const path = journalPath(this.folder, agent);
    const journal = new JournalFile(path, this.epoch, this.clock, (record) =>
      this.index.add(agent, parent, record),
    );
    this.journals.set(agent, journal);
    return journal;
  }

  journalFile(agent: string): string {
    return journalPath(this.folder, agent);
  }

  async readEvents(from = 1, to = Number.POSITIVE_INFINITY): Promise<readonly SwarmEvent[]> {
    this.index.flush();
    return readEvents(this.eventFile.path).filter(({ seq }) => seq >= from && seq <= to);
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

  artifactDirectory(): string {
    return join(this.folder, 'artifacts');
  }

  async close(): Promise<void> {
    this.index.flush();
    for (const journal of this.journals.values()) {
      await journal.sync();
      journal.close();
    }
    this.eventFile.close();
    this.lease.release();
  }
}

class JournalFile implements Journal {
  readonly past: JournalContents;
  private readonly file: LineFile;
  private readonly epoch: number;
  private readonly clock: Clock;
  private readonly written: (record: JournalRecord) => void;
  private seq: number;

  constructor(path: string, epoch: number, clock: Clock, written: (record: JournalRecord) => void) {
    let file = new LineFile(path);
    const lines = readLines(path);
    this.past = readJournal(lines, path);
    if (this.past.damage.length > 0) {
      file.close();
      putAside(path, lines);
      file = new LineFile(path);
    }
    this.file = file;
    this.epoch = epoch;
    this.clock = clock;
    this.written = written;
    this.seq = this.past.records.at(-1)?.seq ?? 0;
    for (const record of this.past.records) written(record);
  }

  append(body: JournalBody): JournalRecord {
    const head = { v: JOURNAL_VERSION, seq: this.seq + 1, ts: this.clock.now(), epoch: this.epoch };
    const record = { ...head, ...body } as JournalRecord;
    this.file.append(`${formatRecord(record)}\n`);
    this.seq += 1;
    this.written(record);
    return record;
  }

  sync(): Promise<void> {
    return this.file.sync();
  }

  close(): void {
    this.file.close();
  }
}

/** Moves lines that are no records to a file beside the journal, where somebody can look at them. */
const putAside = (path: string, lines: readonly string[]): void => {
  const isRecord = (line: string) => parseRecord(line) !== undefined;
  const corrupt = lines.filter((line) => !isRecord(line));
  if (corrupt.length === 0) return;
  fs.appendFileSync(`${path}.corrupt`, corrupt.map((line) => `${line}\n`).join(''), {
    mode: 0o600,
  });
  writeAtomically(
    path,
    lines
      .filter(isRecord)
      .map((line) => `${line}\n`)
      .join(''),
  );
};

export const readArtifact = (directory: string, name: string): Uint8Array => {
  try {
    return readRegular(join(directory, name));
  } catch (error) {
    throw new UsageError(`There is no artifact "${name}".`, { cause: error });
  }
};

/** An index with a hole is drawn again from the journals, as one that was lost is. */
const putAsideIfDamaged = (path: string): void => {
  const isDamaged = readLines(path).some((line) => parseEvent(line) === undefined);
  if (isDamaged) fs.renameSync(path, `${path}.damaged`);
};

const readEvents = (path: string): readonly SwarmEvent[] =>
  readLines(path).flatMap((line) => parseEvent(line) ?? []);

export const writeAtomically = (path: string, content: string | Uint8Array): void => {
  const draft = `${path}.${process.pid}.draft`;
  try {
    fs.writeFileSync(draft, content, { mode: 0o600 });
    fs.renameSync(draft, path);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw storageError(error, path);
  }
};
