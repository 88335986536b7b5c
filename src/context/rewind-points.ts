/** The places in a conversation that a person can go back to: ahead of each prompt that began a run. */
import { HOOK_SENDER } from '../protocol/permission/hooks.js';
import type { JournalRecord } from '../protocol/session/journal.js';
import { conversationOf, stepOf } from './history/conversation.js';
import { textIn } from './history/history-message.js';

export interface RewindPoint {
  /** Counts from 1. */
  readonly number: number;
  /** The record that is the last one to stay. */
  readonly to: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The beginning of the prompt. */
  readonly text: string;
}

const TEXT_CHARACTERS = 400;

/** What was said while the agent worked belongs to the run that it joined. */
export const rewindPoints = (records: readonly JournalRecord[]): readonly RewindPoint[] => {
  const counts = conversationOf(records.map(stepOf));
  const points: RewindPoint[] = [];
  let isRunning = false;
  let before = 0;
  for (const record of records) {
    const to = before;
    // What hooks added to a prompt is taken back with it.
    const isAdded = record.type === 'letter.received' && record.from === HOOK_SENDER;
    if (record.type !== 'hook.ran' && !isAdded) before = record.seq;
    if (!counts.has(record.seq)) continue;
    if (record.type === 'run.started') isRunning = true;
    // A process that was killed leaves a run without an end.
    if (record.type === 'run.ended' || record.type === 'epoch.began') isRunning = false;
    if (record.type === 'session.rewound') isRunning = false;
    if (record.type !== 'letter.received' || record.from !== 'user' || isRunning) continue;
    // Of several that came before the run began, the first is its beginning.
    isRunning = true;
    const text = textIn(record.raw, TEXT_CHARACTERS);
    points.push({ number: points.length + 1, to, at: record.ts, text });
  }
  return points;
};
