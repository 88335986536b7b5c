/** A job as BullMQ keeps it: what it is called there, and whether it is one of ours. Whoever reaches Redis can add others. */
import { z } from 'zod';
import { UsageError } from '../../../protocol/errors.js';
import { type QueuedJob, queuedJob } from '../../../protocol/session/job-queue.js';
import { checkJob } from '../../shared/job-names.js';

/** BullMQ takes no `:` in an id. */
export const bullId = ({ swarm, id, at = 0 }: Pick<QueuedJob, 'id' | 'swarm' | 'at'>): string =>
  `${swarm}.${id}.${at}`;

/** Throws a UsageError that says why it is none. */
export const readBullJob = (name: string, value: unknown): QueuedJob => {
  const { data, error } = queuedJob.safeParse(value);
  if (error !== undefined) {
    throw new UsageError(`This is no job of an agent. ${z.prettifyError(error)}`);
  }
  const job = checkJob(data);
  // Under another name it could not be withdrawn, and an agent could have several.
  if (bullId(job) === name) return job;
  throw new UsageError(`This is no job of an agent: that would be called ${bullId(job)}.`);
};
