/** Jobs that somebody could not do, and that wait until they are tried again. */
import { queuedJob } from '../../../protocol/session/job-queue.js';

interface DelayedJob {
  readonly data: unknown;
  promote(): Promise<void>;
}

/** Who is new may be able to do what others have put off. Never rejects: it is tried later anyhow. */
export const promotePutOff = async (queue: {
  getDelayed(): Promise<readonly DelayedJob[]>;
}): Promise<void> => {
  for (const job of await queue.getDelayed().catch(() => [])) {
    const { notBefore = 0 } = queuedJob.safeParse(job.data).data ?? {};
    // Somebody else may have taken it meanwhile.
    if (notBefore <= Date.now()) await job.promote().catch(() => {});
  }
};
