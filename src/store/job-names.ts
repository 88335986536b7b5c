/** What jobs and those who work on them are called. Both become names of files. */
import { UsageError } from '../protocol/errors.js';
import { type QueuedJob, queuedJob } from '../protocol/job-queue.js';
import { checkSessionId } from './session-meta.js';

const NAME = /^(\d{15})\.([A-Za-z0-9][A-Za-z0-9_-]{0,127})$/;

/** A copy of a job that may be queued. */
export const checkJob = (job: QueuedJob): QueuedJob => {
  checkSessionId(job.swarm);
  const { data } = queuedJob.safeParse(job);
  if (data !== undefined && isJobName(jobName(data))) return data;
  throw new UsageError(
    `"${String(job.id).slice(0, 80)}" cannot be a job: an id has up to 128 letters, digits, - and _, and a job the time when it was added.`,
  );
};

export const checkWorker = (worker: string): string => {
  if (worker !== '' && worker.length <= 80) return worker;
  throw new UsageError('A worker needs a name of up to 80 characters.');
};

/** Sorts by age. */
export const jobName = ({ id, addedAt }: QueuedJob): string =>
  `${String(Math.trunc(addedAt)).padStart(15, '0')}.${id}`;

/** Something else may lie among the jobs. */
export const isJobName = (name: string): boolean => NAME.test(name);

export const inOrderOfAge = (one: QueuedJob, other: QueuedJob): number =>
  jobName(one) < jobName(other) ? -1 : 1;

/** Never `.` or `..`, whatever the worker is called. */
export const workerFolder = (worker: string): string => `w-${encodeURIComponent(worker)}`;

/** Undefined when no worker has such a folder. */
export const workerOf = (folder: string): string | undefined => {
  try {
    return folder.startsWith('w-') ? decodeURIComponent(folder.slice(2)) : undefined;
  } catch {
    return undefined;
  }
};
