/**
 * Copies the records of a lead into a forked session. The agents of the source stay there, because
 * running an agent in two sessions would repeat its effects (law 7): open Task calls get a result
 * that says so, and the lead gets a letter about each unreported background agent.
 */
import { sessionForkNotice } from '../../prompt/messages/fork-directive.js';
import { isWaitedFor } from '../../protocol/agent/agent-tag.js';
import { rawText } from '../../protocol/model/wire-block.js';
import type { Journal } from '../../protocol/session/journal.js';
import type { JournalBody, JournalRecord } from '../../protocol/session/journal-record.js';
import { JOB_SENDER } from '../../protocol/tools/shell-jobs.js';
import { foldRecords } from '../agent/journaled-state.js';
import { toolResult } from '../calls/tool-result.js';
import { reportedChildren } from '../messages/deliver-report.js';

/** Source of the copied records. */
interface CopySource {
  readonly session: string;
  readonly agent: string;
}

type Requested = JournalRecord & { type: 'agent.requested' };
type Started = JournalRecord & { type: 'call.started' };

/** Writes the copy. Throws StorageError. */
export const copySession = (
  journal: Pick<Journal, 'append'>,
  records: readonly JournalRecord[],
  from: CopySource,
): void => {
  const left = remaining(records, from.session);
  /**
   * Maps old sequence numbers to new ones, because lost or skipped records leave gaps that the copy
   * does not have.
   */
  const newSeqs = new Map<number, number>();
  for (const record of records) {
    const body = record.type === 'agent.requested' ? left.answers.get(record.call) : bodyOf(record);
    if (body === undefined) continue;
    const written = body.type === 'agent.created' ? { ...body, forkedFrom: from } : body;
    newSeqs.set(record.seq, journal.append(withNewSeq(written, newSeqs)).seq);
  }
  for (const letter of left.letters) journal.append(letter);
};

interface Remaining {
  /** Result records by Task call id, for calls that wait for an agent. */
  readonly answers: ReadonlyMap<string, JournalBody>;
  /** Letters about background agents that have not reported. They go into the next user message. */
  readonly letters: readonly JournalBody[];
}

const remaining = (records: readonly JournalRecord[], session: string): Remaining => {
  const requests = records.filter(
    (record): record is Requested => record.type === 'agent.requested',
  );
  const answers = new Map<string, JournalBody>();
  const letters: JournalBody[] = [];
  if (requests.length === 0) return { answers, letters };
  const { calls, relations } = foldRecords(records).history;
  const reported = reportedChildren(relations);
  const starts = new Map(
    records.flatMap((record) => (record.type === 'call.started' ? [[record.call, record]] : [])),
  );
  for (const { call, child, kind, description } of requests) {
    const text = sessionForkNotice({ agent: child, description, session });
    const isOpen = relations.childByCall.get(call) === child && calls.get(call)?.result === null;
    const isUnreported =
      !isWaitedFor(kind) && relations.children.has(child) && !reported.has(child);
    if (isOpen) answers.set(call, answerTo(call, text, starts.get(call)));
    else if (isUnreported) letters.push(letterAbout(child, text));
  }
  return { answers, letters };
};

const answerTo = (
  call: string,
  text: string,
  { turn, attempt, tool }: Pick<Started, 'turn' | 'attempt' | 'tool'> = LOST_START,
): JournalBody => ({
  type: 'call.ended',
  turn,
  attempt,
  call,
  tool,
  outcome: 'interrupted',
  durationMs: 0,
  raw: toolResult(call, text, true),
});

/** Values for a call if a damaged journal has lost its `call.started` record. */
const LOST_START = { turn: 0, attempt: 0, tool: 'Task' };

const letterAbout = (child: string, text: string): JournalBody => ({
  type: 'letter.received',
  letter: `stayed_${child}`,
  from: JOB_SENDER,
  raw: `[${rawText(`[${text}]`)}]`,
});

/**
 * Returns the body of a record. Session rules are dropped, because an answer for one session does
 * not hold for another.
 */
const bodyOf = ({ v: _v, seq: _seq, ts: _ts, epoch: _epoch, ...body }: JournalRecord) => {
  // The copy has no gaps.
  if (body.type === 'journal.repaired') return { ...body, lost: [] };
  return (body.type === 'call.ruled' ? { ...body, granted: undefined } : body) as JournalBody;
};

/** Translates the record numbers that a rewind refers to. */
const withNewSeq = (body: JournalBody, newSeqs: ReadonlyMap<number, number>): JournalBody => {
  if (body.type !== 'session.rewound' && body.type !== 'rewind.began') return body;
  const to = newSeqOf(newSeqs, body.to);
  if (body.undoes === undefined) return { ...body, to };
  return { ...body, to, undoes: newSeqOf(newSeqs, body.undoes) };
};

const newSeqOf = (newSeqs: ReadonlyMap<number, number>, wanted: number): number => {
  let last = 0;
  for (const [old, now] of newSeqs) if (old <= wanted) last = Math.max(last, now);
  return last;
};
