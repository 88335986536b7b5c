import { describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../../../src/protocol/session/journal-record.js';
import { EventIndex } from '../../../../src/store/files/journal/event-index.js';
import { IndexPosition } from '../../../../src/store/files/journal/unindexed-records.js';
import { letter } from '../../session-folder.js';

const record = (seq: number): JournalRecord =>
  ({ v: 1, seq, ts: 1, epoch: 1, ...letter(`l_${seq}`) }) as JournalRecord;

/** A sink that refuses all writes while `broken` is true. */
const brokenSink = () => {
  const sink = {
    broken: true,
    lines: [] as string[],
    append(text: string) {
      if (sink.broken) throw new Error('refused');
      sink.lines.push(...text.split('\n').slice(0, -1));
    },
  };
  return sink;
};

describe('the event index', () => {
  test('keeps events after a failed write, and writes them at the next flush', () => {
    const sink = brokenSink();
    const index = new EventIndex('s_1', sink, new IndexPosition());
    for (let seq = 1; seq <= 3; seq += 1) index.add('a_1', null, record(seq));
    index.flush();
    sink.broken = false;
    index.flush();
    expect(sink.lines.map((line) => JSON.parse(line).cites.seq)).toEqual([1, 2, 3]);
  });

  test('keeps at most 10,000 unwritten events, and writes none after a gap', () => {
    const sink = brokenSink();
    const index = new EventIndex('s_1', sink, new IndexPosition());
    for (let seq = 1; seq <= 10_005; seq += 1) index.add('a_1', null, record(seq));
    index.flush();
    sink.broken = false;
    index.flush();
    // An event after the gap would hide the missing event.
    index.add('a_1', null, record(10_006));
    index.flush();
    expect(sink.lines).toHaveLength(10_000);
    expect(JSON.parse(sink.lines.at(-1) ?? '')).toMatchObject({ cites: { seq: 10_000 } });
  });
});
