/**
 * Conversation records: the journal records that are part of the conversation. A rewind goes back
 * to an earlier record; the records in between leave the conversation but still count as spending.
 */
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { History } from './history.js';

/** The part of a record that is kept in memory, because a journal may be too long. */
export type ConversationStep = Pick<JournalRecord, 'seq'> & {
  /** Record that a rewind of the conversation went back to. */
  readonly backTo?: number;
};

export const conversationStep = (record: JournalRecord): ConversationStep =>
  record.type === 'session.rewound' && record.conversation
    ? { seq: record.seq, backTo: record.to }
    : { seq: record.seq };

/**
 * Returns the numbers of the conversation's records. Takes linear time with any number of rewinds.
 */
export const conversationRecords = (steps: readonly ConversationStep[]): ReadonlySet<number> => {
  const kept = new Set<number>();
  for (let at = steps.length - 1; at >= 0; ) {
    const { seq, backTo } = steps[at] ?? { seq: 0 };
    kept.add(seq);
    at = backTo === undefined ? at - 1 : lastUpTo(steps, at - 1, backTo);
  }
  return kept;
};

/** Returns the index of the last record up to `seq`, at least 0: the first record always counts. */
const lastUpTo = (steps: readonly ConversationStep[], from: number, seq: number): number => {
  let at = from;
  while (at > 0 && (steps[at]?.seq ?? 0) > seq) at -= 1;
  return at;
};

/** Applies a record that is no longer part of the conversation: only spending and counters. */
export const applyRewound = (history: History, record: JournalRecord): void => {
  switch (record.type) {
    case 'run.started':
      history.runs = record.run;
      break;
    case 'agent.requested':
      history.relations.isParent = true;
      break;
    case 'letter.received':
      history.letters.markKnown(record.letter);
      break;
    case 'letter.sent':
    case 'letter.undelivered':
      history.relations.apply(record);
      break;
    case 'turn.started':
      history.requests += 1;
      history.betas.record(record.betas);
      break;
    case 'assistant.received':
      history.turns += 1;
      history.spent.count(record);
      break;
    case 'turn.failed':
    case 'consultation.ended':
      history.spent.count(record);
      break;
    default:
      break;
  }
};
