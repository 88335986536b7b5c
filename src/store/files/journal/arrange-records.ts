/** Puts the records of a damaged journal back in order, and finds numbers that are missing. */
import type { LostRecords } from '../../../protocol/session/journal.js';
import type { JournalRecord } from '../../../protocol/session/journal-record.js';

export interface NumberedRecord {
  readonly record: JournalRecord;
  /** Number of the line, from 1. */
  readonly line: number;
}

interface Arranged {
  readonly records: readonly NumberedRecord[];
  /** Lines that were out of order and are at their place now. */
  readonly moved: readonly NumberedRecord[];
  /** Lines with a number that another line has, or that does not fit. */
  readonly dropped: readonly NumberedRecord[];
}

/**
 * Keeps the longest sequence of rising numbers, and moves other records to the gaps that their numbers
 * fill. A record of an older epoch after a newer epoch is dropped.
 */
export const arrangeRecords = (entries: readonly NumberedRecord[]): Arranged => {
  const rising = longestRising(entries);
  const kept = new Map(rising.map((entry) => [entry.record.seq, entry]));
  const last = rising.at(-1)?.record.seq ?? 0;
  const moved: NumberedRecord[] = [];
  const dropped: NumberedRecord[] = [];
  for (const entry of entries) {
    const { seq } = entry.record;
    if (kept.get(seq) === entry) continue;
    if (kept.has(seq) || seq < 1 || seq > last) dropped.push(entry);
    else {
      kept.set(seq, entry);
      moved.push(entry);
    }
  }
  let epoch = 0;
  const sorted = [...kept.values()].sort((a, b) => a.record.seq - b.record.seq);
  const records = sorted.filter((entry) => {
    const isOld = entry.record.epoch < epoch;
    if (isOld) dropped.push(entry);
    else epoch = entry.record.epoch;
    return !isOld;
  });
  const isKept = new Set(records);
  return { records, moved: moved.filter((entry) => isKept.has(entry)), dropped };
};

/** Of two equal numbers the later line wins, because its writer did not know the earlier line. */
const longestRising = (entries: readonly NumberedRecord[]): readonly NumberedRecord[] => {
  /** Index of the entry with the lowest number that ends a sequence of each length. */
  const ends: number[] = [];
  const before: number[] = [];
  const seqAt = (index: number | undefined) => entries[index ?? -1]?.record.seq ?? 0;
  for (const [index, { record }] of entries.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (seqAt(ends[middle]) < record.seq) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1] ?? -1;
    ends[low] = index;
  }
  const rising: NumberedRecord[] = [];
  for (let at = ends.at(-1) ?? -1; at !== -1; at = before[at] ?? -1) {
    const entry = entries[at];
    if (entry !== undefined) rising.push(entry);
  }
  return rising.reverse();
};

/** Returns the losses that `journal.repaired` records name. */
export const knownLosses = (records: readonly JournalRecord[]): readonly LostRecords[] =>
  records.flatMap((record) => (record.type === 'journal.repaired' ? record.lost : []));

/**
 * Returns the missing numbers up to `last`, without those that a `journal.repaired` record names.
 * Records are in order.
 */
export const missingNumbers = (
  records: readonly JournalRecord[],
  last: number,
): readonly LostRecords[] => {
  const gaps: LostRecords[] = [];
  let next = 1;
  for (const { seq } of records) {
    if (seq > next) gaps.push({ from: next, to: seq - 1 });
    next = seq + 1;
  }
  if (last >= next) gaps.push({ from: next, to: last });
  if (gaps.length === 0) return gaps;
  const known = knownLosses(records);
  return gaps.filter((gap) => !known.some(({ from, to }) => from <= gap.from && gap.to <= to));
};
