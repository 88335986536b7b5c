/** Agents whose journal has lost any of its records: their next request must be valid. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FoldedState,
  foldRecords,
  JournaledState,
} from '../../../src/actors/agent/journaled-state.js';
import { repairJournal } from '../../../src/actors/agent/repair-journal.js';
import type { History } from '../../../src/context/history/history.js';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { countedIds } from '../../fakes/counted-ids.js';
import { messagesOf, refusalOf } from '../../laws/journal-damage.js';
import { anyJournal } from '../../protocol/journal-records.js';
import { IS_WIDE } from '../../setup/wide.js';

type Body<Type> = Extract<JournalRecord, { type: Type }>;

const head = { v: 1, ts: 1, epoch: 1 } as const;

/** Keeps records at random, most of them or few of them, and the last always. */
const anyRest = (records: readonly JournalRecord[]) =>
  fc
    .tuple(
      fc.constantFrom(0.3, 0.8, 0.95),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
        minLength: records.length,
        maxLength: records.length,
      }),
    )
    .map(([share, chances]) =>
      records.filter((_, at) => at === records.length - 1 || (chances[at] ?? 0) < share),
    );

/** Records up to an offer to forks after an answer with calls, if the journal has one. */
const upToOffer = (records: readonly JournalRecord[], pick: number): readonly JournalRecord[] => {
  const answers = records.flatMap((it, at) => (it.type === 'assistant.received' ? [at] : []));
  const at = answers[pick % answers.length] ?? 0;
  const { raw } = records[at] as Body<'assistant.received'>;
  const calls = (JSON.parse(raw) as { type: string; id: string }[]).slice(1);
  const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'x' }));
  const past = records.slice(0, at + 1);
  const offer = { ...head, seq: past.length + 1, type: 'fork.offered' as const };
  return [...past, { ...offer, raw: JSON.stringify(results) }];
};

/** The records of a fork: its first message has the offer of its parent. */
const asFork = (records: readonly JournalRecord[]): readonly JournalRecord[] => {
  const first = records.findIndex(({ type }) => type === 'user.sent');
  return records.map((it, at) =>
    at === first && it.type === 'user.sent'
      ? { ...it, parts: [{ offer: true as const }, ...it.parts] }
      : it,
  );
};

interface Damaged {
  /** Records that are left. */
  readonly records: readonly JournalRecord[];
  /** State that a fork inherits from a journal that is damaged too. */
  readonly base: FoldedState | undefined;
}

const anyDamage: fc.Arbitrary<Damaged> = fc.oneof(
  anyJournal.chain(anyRest).map((records) => ({ records, base: undefined })),
  fc.record({
    records: anyJournal.chain((records) => anyRest(asFork(records))),
    base: fc
      .tuple(anyJournal, fc.nat())
      .chain(([records, pick]) => anyRest(upToOffer(records, pick)))
      .map((records) => foldRecords(records)),
  }),
);

/** Repairs the journal and sends a letter with what is open. */
const repaired = (records: readonly JournalRecord[], base?: FoldedState): History => {
  let seq = records.at(-1)?.seq ?? 0;
  const journal = {
    past: { records, damage: [] },
    append: (body: object) => ({ ...head, seq: ++seq, ...body }) as JournalRecord,
    written: () => undefined,
    sync: async () => {},
  };
  const state = new JournaledState(journal, records, base);
  repairJournal(state, { damage: [] }, countedIds(), 'a.jsonl', true);
  return state.history;
};

const refusal = ({ messages }: History) =>
  refusalOf(messagesOf(`{"messages":[${messages.map(({ bytes }) => bytes.toString()).join()}]}`));

/** A paused answer is sent as it is, and the model continues it. */
const isPaused = (records: readonly JournalRecord[]) => {
  const answers = records.filter((it) => it.type === 'assistant.received');
  return answers.at(-1)?.stopReason === 'pause_turn';
};

describe('a journal without any of its records', () => {
  test('leaves messages that a model accepts', () => {
    fc.assert(
      fc.property(anyDamage, ({ records, base }) => {
        const history = repaired(records, base);
        const { calls, letters, relations } = history;
        const isOffered = relations.offer !== null && calls.size === 0;
        const isDue = history.owesAnswer && calls.size === 0 && letters.waiting === 0;
        const isSent = isDue && !isOffered && !isPaused(records);
        expect(isSent ? refusal(history) : undefined).toBeUndefined();
        const at = { ...head, seq: 1_000 };
        const raw = '[{"type":"text","text":"Go on."}]';
        history.apply({ ...at, type: 'letter.received', letter: 'l_last', from: 'user', raw });
        const offer = isOffered ? [{ offer: true as const }] : [];
        history.apply({ ...at, type: 'user.sent', parts: [...offer, ...history.nextUserParts()] });
        expect(refusal(history)).toBeUndefined();
      }),
      { numRuns: IS_WIDE ? 50_000 : 1_000 },
    );
  }, 600_000);
});
