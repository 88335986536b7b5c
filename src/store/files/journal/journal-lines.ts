/** From the lines of a journal to its records, without trusting any of them. */
import { UsageError } from '../../../protocol/errors.js';
import {
  JOURNAL_VERSION,
  type JournalRecord,
  parseRecord,
} from '../../../protocol/session/journal.js';
import type { JournalContents, RecordWatch } from '../../../protocol/session/store.js';
import { LineTail, linesOf } from './line-tail.js';

/**
 * A corrupt line is reported and left out. Records of an older epoch after a newer one were
 * written by an owner that had lost the session, and are dropped (law 8). What follows the record
 * `upTo` is not read.
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

/** The same for a file of any size, one record at a time; what cannot be read is passed over. */
export function* recordsOf(path: string, piece?: number): Generator<JournalRecord, void> {
  const recordIn = recordReader(path);
  for (const line of linesOf(path, piece)) {
    const record = recordIn(line);
    if (record !== undefined) yield record;
  }
}

/** For lines that come one after the other: the record in each, if it counts. */
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

/** `nextLines`: those that have come since the last call, in pieces; undefined when none has. */
export const watchLines = (
  nextLines: () => Promise<readonly string[] | undefined>,
  path: string,
): RecordWatch => {
  const recordIn = recordReader(path);
  let [epoch, seq] = [0, 0];
  /** A file that was cut is read again from its start. */
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
