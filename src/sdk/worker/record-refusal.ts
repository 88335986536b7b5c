/** Records in an agent's journal why a worker cannot run it, so that the lead's person sees it. */
import { RunClock } from '../../context/history/run-clock.js';
import type { ClaimedJob } from '../../protocol/session/job-queue.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { SkeinError, UsageError } from '../../protocol/skein-error.js';
import { WorktreeRefusal } from '../../protocol/tools/worktrees.js';

/** True if another worker may be able to run the agent. Other errors were reported where they happened. */
const isRefusal = (error: unknown): error is SkeinError =>
  error instanceof UsageError || error instanceof WorktreeRefusal;

/** Maximum recorded refusals of an agent, because reasons may contain changing details. */
const MAX_REFUSALS = 20;

/**
 * Records each reason once, because several workers may refuse the agent by turns. A storage failure is
 * ignored: the job is returned to the queue anyway. Rejects only with a defect.
 */
export const recordRefusal = async (
  sessions: Pick<SessionStore, 'openAsWorker' | 'readJournal'>,
  { swarm, id, signal }: Pick<ClaimedJob, 'swarm' | 'id' | 'signal'>,
  error: unknown,
  worker: string,
): Promise<void> => {
  if (!isRefusal(error) || signal.aborted) return;
  try {
    const { records } = await sessions.readJournal(swarm, id);
    const created = records.find((record) => record.type === 'agent.created');
    if (created?.type !== 'agent.created' || isOver(records)) return;
    const reasons = refusalsIn(records);
    if (reasons.includes(error.message) || reasons.length >= MAX_REFUSALS) return;
    const session = await sessions.openAsWorker(swarm);
    try {
      await session.adopt(id);
      const journal = await session.journal(id, created.parent ?? null);
      journal.append({ type: 'agent.queued', reason: error.message, worker });
      await journal.written();
    } finally {
      await session.close();
    }
  } catch (failure) {
    if (!(failure instanceof SkeinError)) throw failure;
  }
};

/** True if the agent has ended, but its worker died before it could remove the job. */
const isOver = (records: readonly JournalRecord[]): boolean => {
  const clock = new RunClock();
  for (const record of records) clock.apply(record);
  return clock.isOver;
};

/** Returns the reasons since the agent was last queued by its lead or run by a process. */
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
