/** From the lines of a journal to its records, without trusting any of them. */
import { UsageError } from '../protocol/errors.js';
import { JOURNAL_VERSION, type JournalRecord, parseRecord } from '../protocol/journal.js';
import type { JournalContents } from '../protocol/store.js';
import { linesOf } from './line-tail.js';

/**
 * A corrupt line is reported and left out. Records of an older epoch after a newer one were
 * written by an owner that had lost the session, and are dropped (law 8).
 */
export const readJournal = (lines: readonly string[], path: string): JournalContents => {
  const records: JournalRecord[] = [];
  const damage: string[] = [];
  let epoch = 0;
  for (const [index, line] of lines.entries()) {
    const record = parseRecord(line);
    if (record === undefined) {
      refuseNewer(line, path);
      damage.push(`${path}:${index + 1} cannot be read and was put aside`);
    } else if (record.epoch < epoch) {
      damage.push(`${path}:${index + 1} was written by an owner that had lost the session`);
    } else {
      epoch = record.epoch;
      records.push(record);
    }
  }
  return { records, damage };
};

/** The same for a file of any size, one record at a time; what cannot be read is passed over. */
export function* recordsOf(path: string): Generator<JournalRecord, void> {
  let epoch = 0;
  for (const line of linesOf(path)) {
    const record = parseRecord(line);
    if (record === undefined) refuseNewer(line, path);
    else if (record.epoch >= epoch) {
      epoch = record.epoch;
      yield record;
    }
  }
}

const refuseNewer = (line: string, path: string): void => {
  const version = /^\{"v":(\d+),/.exec(line)?.[1];
  if (version !== undefined && Number(version) > JOURNAL_VERSION) {
    throw new UsageError(
      `${path} was written by a newer skein (journal version ${version}); update skein to open it.`,
    );
  }
};
