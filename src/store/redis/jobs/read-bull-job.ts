/** Id and content of a BullMQ job. Jobs are checked because any client of Redis can add jobs. */
import { z } from 'zod';
import { type QueuedJob, queuedJob } from '../../../protocol/session/job-queue.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { checkJob } from '../../shared/job-name.js';

/** Returns the BullMQ id of a job. Without `:`, because BullMQ refuses it. */
export const bullJobId = ({ swarm, id, at = 0 }: Pick<QueuedJob, 'id' | 'swarm' | 'at'>): string =>
  `${swarm}.${id}.${at}`;

/** Returns the job. Throws UsageError with the reason if the content is not a job of an agent. */
export const readBullJob = (name: string, value: unknown): QueuedJob => {
  const { data, error } = queuedJob.safeParse(value);
  if (error !== undefined) {
    throw new UsageError(`This is not the job of an agent. ${z.prettifyError(error)}`);
  }
  const job = checkJob(data);
  // A job with another id could not be withdrawn, and an agent could have several jobs.
  if (bullJobId(job) === name) return job;
  throw new UsageError(`This is not the job of an agent: its id would be ${bullJobId(job)}.`);
};
