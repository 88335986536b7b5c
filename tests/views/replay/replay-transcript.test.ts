import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { StorageError } from '../../../src/protocol/skein-error.js';
import { ReplayTranscript } from '../../../src/views/replay/replay-transcript.js';
import { TranscriptFold } from '../../../src/views/transcript/transcript-fold.js';
import { anyJournal } from '../../protocol/journal-records.js';

async function* oneByOne(records: readonly JournalRecord[]): AsyncGenerator<JournalRecord, void> {
  yield* records;
}

const cutAt = (records: readonly JournalRecord[], seq: number) => {
  const fold = new TranscriptFold();
  for (const record of records) if (record.seq <= seq) fold.take(record);
  return fold.items;
};

describe('the transcript of a replay', () => {
  test('ends at the current position, independent of the earlier positions', async () => {
    const moves = fc.array(fc.nat(60), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(anyJournal, moves, fc.boolean(), async (records, seqs, isHasty) => {
        const journals = { records: () => oneByOne(records) };
        const transcript = new ReplayTranscript(journals, 's_1', 'a_1', () => {});
        for (const seq of seqs) {
          const shown = transcript.goTo(seq);
          if (!isHasty) await shown;
        }
        const last = seqs.at(-1) ?? 0;
        await transcript.goTo(last);
        expect(transcript.items).toEqual(cutAt(records, last));
        transcript.close();
      }),
      { numRuns: 40 },
    );
  });

  test('continues reading forwards, and restarts from the beginning only to move back', async () => {
    const [records = []] = fc.sample(anyJournal, { numRuns: 1, seed: 7 });
    let reads = 0;
    const journals = {
      records: () => {
        reads += 1;
        return oneByOne(records);
      },
    };
    let notified = 0;
    const transcript = new ReplayTranscript(journals, 's_1', 'a_1', () => {});
    transcript.watch(() => {
      notified += 1;
    });
    for (const seq of [1, 2, 4]) await transcript.goTo(seq);
    expect([reads, notified]).toEqual([1, 3]);
    await transcript.goTo(4);
    await transcript.goTo(2);
    expect([reads, notified]).toEqual([2, 4]);
  });

  test('shows the reason if a journal cannot be read', async () => {
    const journals = {
      async *records(): AsyncGenerator<JournalRecord, void> {
        yield* [];
        throw new StorageError('The disk is gone.');
      },
    };
    const transcript = new ReplayTranscript(journals, 's_1', 'a_1', () => {});
    await transcript.goTo(3);
    expect(transcript.items.map(({ text }) => text)).toEqual([
      'The journal cannot be read further: The disk is gone.',
    ]);
  });
});
