/**
 * Which records of a journal make the conversation. A rewind goes back to an earlier record: what came
 * in between is no longer part of it, though it happened and was paid for.
 */
import type { JournalRecord } from '../../protocol/session/journal.js';
import type { History } from './history.js';

/** What has to be known of each record: a journal may be too long to be held as a whole. */
export type Step = Pick<JournalRecord, 'seq'> & {
  /** The record that a rewind of the conversation went back to. */
  readonly backTo?: number;
};

export const stepOf = (record: JournalRecord): Step =>
  record.type === 'session.rewound' && record.conversation
    ? { seq: record.seq, backTo: record.to }
    : { seq: record.seq };

/** The numbers of the records that count. Linear, however often it was rewound. */
export const conversationOf = (steps: readonly Step[]): ReadonlySet<number> => {
  const kept = new Set<number>();
  for (let at = steps.length - 1; at >= 0; ) {
    const { seq, backTo } = steps[at] ?? { seq: 0 };
    kept.add(seq);
    at = backTo === undefined ? at - 1 : lastUpTo(steps, at - 1, backTo);
  }
  return kept;
};

/** The index of the last record up to `seq`. The very first one, which says who the agent is, always counts. */
const lastUpTo = (steps: readonly Step[], from: number, seq: number): number => {
  let at = from;
  while (at > 0 && (steps[at]?.seq ?? 0) > seq) at -= 1;
  return at;
};

/** Folds what is no longer part of the conversation, but was paid for or counted. */
export const accountFor = (history: History, record: JournalRecord): void => {
  switch (record.type) {
    case 'run.started':
      history.runs = record.run;
      break;
    case 'agent.requested':
      history.family.isParent = true;
      break;
    case 'letter.received':
      history.letters.know(record.letter);
      break;
    case 'letter.sent':
    case 'letter.undelivered':
      history.family.apply(record);
      break;
    case 'turn.started':
      history.requests += 1;
      history.betas.take(record.betas);
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
