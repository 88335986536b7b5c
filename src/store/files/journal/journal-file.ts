/** One agent's journal as a file: what was there when it was opened, and what its owner adds. */
import fs from 'node:fs';
import type { Clock } from '../../../protocol/clock.js';
import {
  formatRecord,
  JOURNAL_VERSION,
  type JournalBody,
  type JournalRecord,
  parseRecord,
} from '../../../protocol/session/journal.js';
import type { Journal, JournalContents, SyncTime } from '../../../protocol/session/store.js';
import { writeAtomically } from '../io/write-atomically.js';
import type { DescriptorPool } from './descriptor-pool.js';
import { readJournal } from './journal-lines.js';
import { LineFile, readLines } from './line-file.js';

export class JournalFile implements Journal {
  readonly past: JournalContents;
  private readonly file: LineFile;
  private readonly epoch: number;
  private readonly clock: Clock;
  private readonly told: (record: JournalRecord) => void;
  private seq: number;

  constructor(
    path: string,
    epoch: number,
    clock: Clock,
    open: DescriptorPool,
    written: (record: JournalRecord) => void,
  ) {
    let file = new LineFile(path, open);
    const lines = file.startedEmpty ? [] : readLines(path);
    this.past = readJournal(lines, path);
    if (this.past.damage.length > 0) {
      file.close();
      putAside(path, lines);
      file = new LineFile(path, open);
    }
    this.file = file;
    this.epoch = epoch;
    this.clock = clock;
    this.told = written;
    this.seq = this.past.records.at(-1)?.seq ?? 0;
    for (const record of this.past.records) written(record);
  }

  append(body: JournalBody): JournalRecord {
    const head = { v: JOURNAL_VERSION, seq: this.seq + 1, ts: this.clock.now(), epoch: this.epoch };
    // Much faster than a second spread, and there are many records.
    const record = Object.assign(head, body) as JournalRecord;
    this.file.append(`${formatRecord(record)}\n`);
    this.seq += 1;
    this.told(record);
    return record;
  }

  /** write() has returned. */
  written(): undefined {
    return undefined;
  }

  sync(when?: SyncTime): Promise<void> {
    return this.file.sync(when);
  }

  /** Everything is on disk, and nothing can be added. */
  async end(): Promise<void> {
    try {
      await this.file.sync();
    } finally {
      this.file.close();
    }
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
