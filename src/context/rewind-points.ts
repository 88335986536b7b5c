/** Rewind points of a conversation: the record before each prompt that started a run. */
import { HOOK_SENDER } from '../protocol/permission/hooks.js';
import type { JournalRecord } from '../protocol/session/journal-record.js';
import { conversationRecords, conversationStep } from './history/conversation-records.js';
import { textOfContent } from './history/history-message.js';

export interface RewindPoint {
  /** Number of the point, from 1. */
  readonly number: number;
  /** Last record that stays. */
  readonly to: number;
  /** Time of the prompt in milliseconds since 1970. */
  readonly at: number;
  /** First characters of the prompt. */
  readonly text: string;
}

const MAX_TEXT_LENGTH = 400;

/** A prompt sent during a run gets no point, because it belongs to that run. */
export const rewindPoints = (records: readonly JournalRecord[]): readonly RewindPoint[] => {
  const counts = conversationRecords(records.map(conversationStep));
  const points: RewindPoint[] = [];
  let isRunning = false;
  let before = 0;
  for (const record of records) {
    const to = before;
    // A rewind to a prompt also takes back the context that hooks added to it.
    const isAdded = record.type === 'letter.received' && record.from === HOOK_SENDER;
    if (record.type !== 'hook.ran' && !isAdded) before = record.seq;
    if (!counts.has(record.seq)) continue;
    if (record.type === 'run.started') isRunning = true;
    // A killed process leaves a run without an end record.
    if (record.type === 'run.ended' || record.type === 'epoch.began') isRunning = false;
    if (record.type === 'session.rewound') isRunning = false;
    if (record.type !== 'letter.received' || record.from !== 'user' || isRunning) continue;
    // If several prompts arrive before the run starts, the first prompt is its start.
    isRunning = true;
    const text = textOfContent(record.raw, MAX_TEXT_LENGTH);
    points.push({ number: points.length + 1, to, at: record.ts, text });
  }
  return points;
};
