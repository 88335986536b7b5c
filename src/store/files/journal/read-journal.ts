/** Reads journal records from lines, and skips lines that are damaged or out of date. */

import type { JournalContents } from '../../../protocol/session/journal.js';
import {
  JOURNAL_VERSION,
  type JournalRecord,
  parseRecord,
} from '../../../protocol/session/journal-record.js';
import type { RecordWatch } from '../../../protocol/session/session-store.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { LineTail, linesOf } from './line-tail.js';

/**
 * Returns the records up to and including the record `upTo` (default: all). Damaged lines are
 * reported and skipped. A record of an older epoch after a newer epoch is dropped, because its
 * writer had lost the session (law 8). Throws UsageError for a journal of a newer version.
 */
export const readJournal = (
  lines: Iterable<string>,
  path: string,
  upTo = Number.POSITIVE_INFINITY,
): JournalContents => {
  const records: JournalRecord[] = [];
  const damage: string[] = [];
  let epoch = 0;
  let number = 0;
  for (const line of lines) {
    number += 1;
    const record = parseRecord(line);
    if (record === undefined) {
      refuseNewer(line, path);
      damage.push(`${path}:${number} cannot be read and was put aside`);
    } else if (record.epoch < epoch) {
      damage.push(`${path}:${number} was written by an owner that had lost the session`);
    } else {
      if (record.seq > upTo) break;
      epoch = record.epoch;
      records.push(record);
      if (record.seq === upTo) break;
    }
  }
  return { records, damage };
};

/**
 * Yields the records of a file of any size. Skips damaged lines. Throws UsageError for a newer
 * version.
 */
export function* recordsOf(path: string, chunkBytes?: number): Generator<JournalRecord, void> {
  const recordIn = recordReader(path);
  for (const line of linesOf(path, chunkBytes)) {
    const record = recordIn(line);
    if (record !== undefined) yield record;
  }
}

/** Returns a function that parses successive lines. It returns undefined for a line to skip. */
export const recordReader = (path: string): ((line: string) => JournalRecord | undefined) => {
  let epoch = 0;
  return (line) => {
    const record = parseRecord(line);
    if (record === undefined) refuseNewer(line, path);
    if (record === undefined || record.epoch < epoch) return undefined;
    epoch = record.epoch;
    return record;
  };
};

/** `nextLines` returns a batch of lines since the last call, or undefined if there are none. */
export const watchLines = (
  nextLines: () => Promise<readonly string[] | undefined>,
  path: string,
): RecordWatch => {
  const recordIn = recordReader(path);
  let [epoch, seq] = [0, 0];
  /** False for records that were returned before: a truncated file is read again from its start. */
  const isNew = (record: JournalRecord) => record.epoch > epoch || record.seq > seq;
  return {
    async next() {
      for (;;) {
        const lines = await nextLines();
        if (lines === undefined) return [];
        const records: JournalRecord[] = [];
        for (const line of lines) {
          const record = recordIn(line);
          if (record === undefined || !isNew(record)) continue;
          ({ epoch, seq } = record);
          records.push(record);
        }
        if (records.length > 0) return records;
      }
    },
  };
};

export const watchJournal = (path: string): RecordWatch => {
  const tail = new LineTail(path);
  return watchLines(async () => tail.next(), path);
};

const refuseNewer = (line: string, path: string): void => {
  const version = /^\{"v":(\d+),/.exec(line)?.[1];
  if (version !== undefined && Number(version) > JOURNAL_VERSION) {
    throw new UsageError(
      `${path} was written by a newer skein (journal version ${version}); update skein to open it.`,
    );
  }
};
