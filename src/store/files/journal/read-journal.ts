/** Reads journal records from lines, and skips lines that are damaged or out of date. */

import type { JournalContents } from '../../../protocol/session/journal.js';
import {
  JOURNAL_VERSION,
  type JournalRecord,
  parseRecord,
} from '../../../protocol/session/journal-record.js';
import type { RecordWatch } from '../../../protocol/session/session-store.js';
import { UsageError } from '../../../protocol/skein-error.js';
import {
  arrangeRecords,
  knownLosses,
  missingNumbers,
  type NumberedRecord,
} from './arrange-records.js';
import { LineTail, linesOf } from './line-tail.js';

/** Maximum number of records in a gap. A record after a larger gap has a wrong number. */
const MAX_GAP = 1_000_000;

export interface ReadOptions {
  /** Number of the last record to read. Default: all records. */
  readonly upTo?: number | undefined;
  /** Number of the last record that the event index knows. Default: unknown. */
  readonly indexed?: number | undefined;
  /** Epoch of an owner that has closed its journals, if the last line is torn. Default: none. */
  readonly tornAfter?: number | undefined;
}

export interface CheckedJournal {
  readonly contents: JournalContents;
  /** Number of the last record that ever existed. New records follow it, so no number is used twice. */
  readonly lastSeq: number;
  /** True if lines were unreadable, repeated or out of order, so the file must be written again. */
  readonly isDisordered: boolean;
}

/** Returns the contents of a journal without a check of its end. Throws UsageError as `checkJournal`. */
export const readJournal = (
  lines: Iterable<string>,
  path: string,
  upTo?: number,
): JournalContents => checkJournal(lines, path, { upTo }).contents;

/**
 * Returns the records in order. Unreadable, repeated and misplaced lines and missing records are
 * reported. A record of an older epoch after a newer epoch is dropped, because its writer had lost the
 * session (law 8). Throws UsageError for a journal of a newer version.
 */
export const checkJournal = (
  lines: Iterable<string>,
  path: string,
  { upTo = Number.POSITIVE_INFINITY, indexed = 0, tornAfter = 0 }: ReadOptions = {},
): CheckedJournal => {
  const damage: string[] = [];
  let entries: NumberedRecord[] = [];
  let [epoch, epochStart, last, zombieSeq, line] = [0, 0, 0, 0, 0];
  let isRising = true;
  /** Unreadable lines, with the number that each line had at least. */
  const unreadable: { readonly line: number; readonly seq: number }[] = [];
  let known: Set<number> | undefined;
  const isKnown = (seq: number) => {
    known ??= new Set(entries.map(({ record }) => record.seq));
    return known.has(seq);
  };
  for (const text of lines) {
    line += 1;
    const record = parseRecord(text);
    const isImpossible = record !== undefined && record.seq > Math.max(last, indexed) + MAX_GAP;
    if (record === undefined || isImpossible) {
      refuseNewer(text, path);
      unreadable.push({ line, seq: last + 1 });
      continue;
    }
    if (record.epoch < epoch && (record.seq >= epochStart || isKnown(record.seq))) {
      damage.push(`${path}:${line} was written by an owner that had lost the session`);
      zombieSeq = Math.max(zombieSeq, record.seq);
      continue;
    }
    if (record.seq > upTo) {
      if (isRising) break;
      continue;
    }
    if (record.epoch > epoch) [epoch, epochStart] = [record.epoch, record.seq];
    isRising &&= record.seq > last;
    last = record.seq;
    entries.push({ record, line });
    known?.add(record.seq);
    if (record.seq === upTo && isRising) break;
  }
  if (!isRising) {
    const { records, moved, dropped } = arrangeRecords(entries);
    entries = [...records];
    for (const entry of moved) {
      damage.push(`${path}:${entry.line} was out of order: it is record ${entry.record.seq}`);
    }
    for (const entry of dropped) {
      const { seq } = entry.record;
      damage.push(
        `${path}:${entry.line} was put aside: record ${seq} exists or does not fit there`,
      );
    }
  }
  const records = entries.map(({ record }) => record);
  const lastKept = records.at(-1)?.seq ?? 0;
  // The index may also know the records of a former owner.
  const isCutShort = indexed > Math.max(lastKept, zombieSeq);
  // An unreadable line at the end was a record too, such as the start of a call that may have run.
  const lastRead = entries.reduce((last, entry) => Math.max(last, entry.line), 0);
  const unreadAtEnd = unreadable.filter((it) => it.line > lastRead).length;
  // A killed owner leaves a record without effect. An owner that closed the journal had written the whole record.
  const tornRecords = tornAfter > 0 && records.at(-1)?.epoch === tornAfter ? 1 : 0;
  const lastSeq = Math.max(isCutShort ? indexed : 0, lastKept + unreadAtEnd + tornRecords);
  const lost = missingNumbers(records, lastSeq);
  for (const { from, to } of lost) {
    const next = entries.find(({ record }) => record.seq > to);
    const numbers = from === to ? `record ${from} is` : `records ${from} to ${to} are`;
    const at = next === undefined ? 'after the last line' : 'before this line';
    damage.push(`${path}:${next?.line ?? line}: ${numbers} missing ${at}`);
  }
  // A store that cannot remove lines still has the lines that were reported before.
  const repairs = knownLosses(records);
  const isNew = ({ seq }: { seq: number }) =>
    !repairs.some(({ from, to }) => from <= seq && seq <= to);
  damage.unshift(
    ...unreadable.filter(isNew).map((it) => `${path}:${it.line} cannot be read and was put aside`),
  );
  const isDisordered = !isRising || unreadable.length > 0;
  return { contents: { records, damage, ...(lost.length > 0 && { lost }) }, lastSeq, isDisordered };
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
