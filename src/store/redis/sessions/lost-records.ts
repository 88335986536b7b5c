/** Finds records that the lead's copy of a journal has and Redis has lost. */
import fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { JournalRecord } from '../../../protocol/session/journal-record.js';
import { linesOf } from '../../files/journal/line-tail.js';
import { recordReader } from '../../files/journal/read-journal.js';
import { lostPathOf } from './mirrored-list.js';

/**
 * Returns the records of the copy at `path`, and of earlier copies, that `stored` lacks. A record of a
 * loss in `stored` tells of all records before it. `stored` is the journal in Redis.
 */
export const lostRecords = (
  path: string,
  stored: readonly JournalRecord[],
): readonly JournalRecord[] => {
  const isStored = storedIn(stored);
  const toldAt = stored.findLast(({ type }) => type === 'records.lost')?.ts ?? 0;
  const lost = new Map<string, JournalRecord>();
  for (const copy of copiesOf(path)) {
    const recordIn = recordReader(copy);
    for (const line of linesOf(copy)) {
      const record = recordIn(line);
      if (record === undefined || record.ts <= toldAt) continue;
      const { seq, ts, epoch } = record;
      if (isStored(record)) continue;
      lost.set(`${seq} ${ts} ${epoch}`, record);
    }
  }
  return [...lost.values()];
};

export const withoutStored = (
  records: readonly JournalRecord[],
  stored: readonly JournalRecord[],
): readonly JournalRecord[] => {
  const isStored = storedIn(stored);
  return records.filter((record) => !isStored(record));
};

const storedIn = (stored: readonly JournalRecord[]) => {
  const known = new Map(stored.map((record) => [record.seq, record]));
  return ({ seq, ts, epoch, type }: JournalRecord): boolean => {
    const same = known.get(seq);
    return same?.ts === ts && same.epoch === epoch && same.type === type;
  };
};

/** Returns the copies that exist, oldest first. */
const copiesOf = (path: string): readonly string[] => {
  const folder = dirname(path);
  const lostName = basename(lostPathOf(path));
  const names = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  const old = names.filter((name) => name === lostName || name.startsWith(`${lostName}-`));
  return [...old.map((name) => join(folder, name)), path].filter((file) => fs.existsSync(file));
};
