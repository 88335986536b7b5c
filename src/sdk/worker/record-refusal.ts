/** Leaves word for the lead's person that a worker was given an agent and cannot work on it. */
import { RunClock } from '../../context/history/run-clock.js';
import { SkeinError, UsageError } from '../../protocol/errors.js';
import type { TakenJob } from '../../protocol/session/job-queue.js';
import type { JournalRecord } from '../../protocol/session/journal.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { WorktreeRefusal } from '../../protocol/tools/worktree.js';

/** What is missing here and may be there elsewhere; all else has been said where it happened. */
const isRefusal = (error: unknown): error is SkeinError =>
  error instanceof UsageError || error instanceof WorktreeRefusal;

/** Reasons that name what changes all the time: so many are enough. */
const MOST_NOTES = 20;

/**
 * Once for each reason, which names the machine where that matters: several refuse by turns. Never rejects:
 * whoever cannot say it gives the agent back all the same.
 */
export const recordRefusal = async (
  sessions: Pick<SessionStore, 'openAsWorker' | 'peek'>,
  { swarm, id, signal }: Pick<TakenJob, 'swarm' | 'id' | 'signal'>,
  error: unknown,
  worker: string,
): Promise<void> => {
  if (!isRefusal(error) || signal.aborted) return;
  try {
    const { records } = await sessions.peek(swarm, id);
    const created = records.find((record) => record.type === 'agent.created');
    if (created?.type !== 'agent.created' || isOver(records)) return;
    const reasons = refusalsIn(records);
    if (reasons.includes(error.message) || reasons.length >= MOST_NOTES) return;
    const session = await sessions.openAsWorker(swarm);
    try {
      await session.adopt(id);
      const journal = await session.journal(id, created.parent ?? null);
      journal.append({ type: 'agent.queued', reason: error.message, worker });
      await journal.written();
    } finally {
      await session.close();
    }
  } catch (trouble) {
    if (!(trouble instanceof SkeinError)) throw trouble;
  }
};

/** Whoever had it died before the queue heard of its end: nothing is left to refuse. */
const isOver = (records: readonly JournalRecord[]): boolean => {
  const life = new RunClock();
  for (const record of records) life.apply(record);
  return life.isOver;
};

/** Since it was queued, or somebody worked on it. */
const refusalsIn = (records: readonly JournalRecord[]): readonly string[] => {
  const since = records.findLastIndex(
    (record) =>
      record.type === 'epoch.began' ||
      (record.type === 'agent.queued' && record.worker === undefined),
  );
  return records
    .slice(since + 1)
    .flatMap((record) => (record.type === 'agent.queued' ? [record.reason] : []));
};
