/** Leaves word for the lead's person that a worker was given an agent and cannot work on it. */
import { SkeinError, UsageError } from '../protocol/errors.js';
import type { TakenJob } from '../protocol/job-queue.js';
import type { SessionStore } from '../protocol/store.js';
import { WorktreeRefusal } from '../protocol/worktree.js';

/** What is missing here and may be there elsewhere; all else has been said where it happened. */
const isRefusal = (error: unknown): error is SkeinError =>
  error instanceof UsageError || error instanceof WorktreeRefusal;

/** Once for each reason. Never rejects: whoever cannot say it gives the agent back all the same. */
export const noteRefusal = async (
  sessions: Pick<SessionStore, 'visit' | 'peek'>,
  { swarm, id, signal }: Pick<TakenJob, 'swarm' | 'id' | 'signal'>,
  error: unknown,
  worker: string,
): Promise<void> => {
  if (!isRefusal(error) || signal.aborted) return;
  try {
    const { records } = await sessions.peek(swarm, id);
    const created = records.find((record) => record.type === 'agent.created');
    if (created?.type !== 'agent.created') return;
    const last = records.findLast(({ type }) => type === 'agent.queued' || type === 'epoch.began');
    if (last?.type === 'agent.queued' && last.reason === error.message) return;
    const session = await sessions.visit(swarm);
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
