/** The journal of an agent as a file, `agents/<agent>.jsonl` in the folder of the session. */
import fs from 'node:fs';
import { join } from 'node:path';
import { replaceFileDurablySync } from '../../../lib/replace-file.js';
import type { Clock } from '../../../protocol/clock.js';
import type { Journal, JournalContents, SyncTime } from '../../../protocol/session/journal.js';
import {
  formatRecord,
  JOURNAL_VERSION,
  type JournalBody,
  type JournalRecord,
  parseRecord,
} from '../../../protocol/session/journal-record.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { storageError } from '../../shared/storage-error.js';
import { freeName } from '../io/free-name.js';
import type { DescriptorPool } from './descriptor-pool.js';
import { LineFile, readLines } from './line-file.js';
import { checkJournal } from './read-journal.js';

const SUFFIX = '.jsonl';

/** True if an agent id can be a file name. People can ask for any id. */
export const isJournalOwner = (agent: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(agent);

/** Throws UsageError if the id cannot be a file name. */
export const journalPath = (folder: string, agent: string): string => {
  if (isJournalOwner(agent)) return join(folder, 'agents', `${agent}${SUFFIX}`);
  throw new UsageError(
    `"${agent.slice(0, 80)}" cannot be an agent id: use letters, digits, - and _.`,
  );
};

/** Returns the ids of all agents with a journal, sorted. */
export const journaledAgents = (folder: string): readonly string[] => {
  const agents = join(folder, 'agents');
  if (!fs.existsSync(agents)) return [];
  return fs
    .readdirSync(agents)
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length))
    .filter(isJournalOwner)
    .sort();
};

export class JournalFile implements Journal {
  readonly past: JournalContents;
  private readonly file: LineFile;
  private readonly epoch: number;
  private readonly clock: Clock;
  private readonly onRecord: (record: JournalRecord) => void;
  private seq: number;

  constructor(
    path: string,
    epoch: number,
    clock: Clock,
    descriptors: DescriptorPool,
    onRecord: (record: JournalRecord) => void,
    indexed = 0,
    closedEpoch = 0,
  ) {
    let file = new LineFile(path, descriptors);
    const lines = file.startedEmpty ? [] : readLines(path);
    const tornAfter = file.startedTorn ? closedEpoch : 0;
    const { contents, lastSeq, isDisordered } = checkJournal(lines, path, { indexed, tornAfter });
    this.past = contents;
    if (isDisordered) {
      file.close();
      rewriteJournal(path, lines, contents.records);
      file = new LineFile(path, descriptors);
    }
    this.file = file;
    this.epoch = epoch;
    this.clock = clock;
    this.onRecord = onRecord;
    this.seq = lastSeq;
    for (const record of this.past.records) onRecord(record);
  }

  append(body: JournalBody): JournalRecord {
    const head = { v: JOURNAL_VERSION, seq: this.seq + 1, ts: this.clock.now(), epoch: this.epoch };
    // Faster than a second spread; this is a hot path.
    const record = Object.assign(head, body) as JournalRecord;
    this.file.append(`${formatRecord(record)}\n`);
    this.seq += 1;
    this.onRecord(record);
    return record;
  }

  /** Returns undefined, because `append` has written the record when it returns. */
  written(): undefined {
    return undefined;
  }

  sync(when?: SyncTime): Promise<void> {
    return this.file.sync(when);
  }

  /** Resolves when all records are on disk. No records can be added later. */
  async end(): Promise<void> {
    try {
      await this.file.sync();
    } finally {
      this.file.close();
    }
  }
}

/**
 * Writes the journal again with its records in order. Keeps a copy of the damaged file as
 * `<path>.damaged`, and the unreadable lines as `<path>.corrupt`. Throws StorageError.
 */
const rewriteJournal = (
  path: string,
  lines: readonly string[],
  records: readonly JournalRecord[],
): void => {
  const corrupt = lines.filter((line) => parseRecord(line) === undefined);
  try {
    fs.copyFileSync(path, freeName(`${path}.damaged`), fs.constants.COPYFILE_EXCL);
    if (corrupt.length > 0) {
      const text = corrupt.map((line) => `${line}\n`).join('');
      fs.appendFileSync(`${path}.corrupt`, text, { mode: 0o600 });
    }
    replaceFileDurablySync(path, records.map((record) => `${formatRecord(record)}\n`).join(''));
  } catch (error) {
    throw storageError(error, path);
  }
};
