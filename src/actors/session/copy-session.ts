/**
 * What a session that is forked from another begins with: the records of the other one's lead. Its
 * agents stay where they are, since two sessions with one agent would have its effects twice (law 7):
 * what the lead waits for is answered with that, and of the others it is told.
 */
import { stayedText } from '../../prompt/messages/delegation-text.js';
import { isWaitedFor } from '../../protocol/agent/swarm.js';
import { rawText } from '../../protocol/model/wire.js';
import type { JournalBody, JournalRecord } from '../../protocol/session/journal.js';
import type { Journal } from '../../protocol/session/store.js';
import { JOB_SENDER } from '../../protocol/tools/shell-jobs.js';
import { foldRecords } from '../agent/journaled-state.js';
import { resultBlock } from '../calls/tool-result.js';
import { heardOf } from '../messages/report-letter.js';

/** The lead whose records they are. */
export interface CopiedFrom {
  readonly session: string;
  readonly agent: string;
}

type Requested = JournalRecord & { type: 'agent.requested' };
type Started = JournalRecord & { type: 'call.started' };

/** Throws a StorageError. */
export const writeCopy = (
  journal: Pick<Journal, 'append'>,
  records: readonly JournalRecord[],
  from: CopiedFrom,
): void => {
  const left = leftBehind(records, from.session);
  /** Lines that were lost or left out leave gaps in the numbers, and a copy has none. */
  const places = new Map<number, number>();
  for (const record of records) {
    const body = record.type === 'agent.requested' ? left.answers.get(record.call) : bodyOf(record);
    if (body === undefined) continue;
    const written = body.type === 'agent.created' ? { ...body, forkedFrom: from } : body;
    places.set(record.seq, journal.append(movedTo(written, places)).seq);
  }
  for (const letter of left.letters) journal.append(letter);
};

interface LeftBehind {
  /** By the call that waits for an agent: its result. */
  readonly answers: ReadonlyMap<string, JournalBody>;
  /** Of agents in the background that have not reported; they go along with the next message. */
  readonly letters: readonly JournalBody[];
}

const leftBehind = (records: readonly JournalRecord[], session: string): LeftBehind => {
  const requests = records.filter(
    (record): record is Requested => record.type === 'agent.requested',
  );
  const answers = new Map<string, JournalBody>();
  const letters: JournalBody[] = [];
  if (requests.length === 0) return { answers, letters };
  const { calls, family } = foldRecords(records).history;
  const heard = heardOf(family);
  const starts = new Map(
    records.flatMap((record) => (record.type === 'call.started' ? [[record.call, record]] : [])),
  );
  for (const { call, child, kind, description } of requests) {
    const text = stayedText({ agent: child, description, session });
    const isOpen = family.asked.get(call) === child && calls.get(call)?.result === null;
    const isUnheard = !isWaitedFor(kind) && family.children.has(child) && !heard.has(child);
    if (isOpen) answers.set(call, answerTo(call, text, starts.get(call)));
    else if (isUnheard) letters.push(letterAbout(child, text));
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
  raw: resultBlock(call, text, true),
});

/** A damaged journal may have lost that it started. */
const LOST_START = { turn: 0, attempt: 0, tool: 'Task' };

const letterAbout = (child: string, text: string): JournalBody => ({
  type: 'letter.received',
  letter: `stayed_${child}`,
  from: JOB_SENDER,
  raw: `[${rawText(`[${text}]`)}]`,
});

/** An answer for the session is none for another one. */
const bodyOf = ({ v: _v, seq: _seq, ts: _ts, epoch: _epoch, ...body }: JournalRecord) =>
  (body.type === 'call.ruled' ? { ...body, granted: undefined } : body) as JournalBody;

/** What goes back to a record names it by its number. */
const movedTo = (body: JournalBody, places: ReadonlyMap<number, number>): JournalBody => {
  if (body.type !== 'session.rewound' && body.type !== 'rewind.began') return body;
  const to = lastPlace(places, body.to);
  if (body.type === 'rewind.began' || body.undoes === undefined) return { ...body, to };
  return { ...body, to, undoes: lastPlace(places, body.undoes) };
};

const lastPlace = (places: ReadonlyMap<number, number>, wanted: number): number => {
  let last = 0;
  for (const [old, now] of places) if (old <= wanted) last = Math.max(last, now);
  return last;
};
