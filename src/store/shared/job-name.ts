/** Names of jobs and workers. Both become file names. */

import { type QueuedJob, queuedJob } from '../../protocol/session/job-queue.js';
import { UsageError } from '../../protocol/skein-error.js';
import { checkSessionId } from './check-session-id.js';

const NAME = /^(?:p\d{7}\.)?\d{15}\.[A-Za-z0-9][A-Za-z0-9_-]{0,127}(?:\.\d{1,15})?$/;
/** Latest time that a name can hold, in milliseconds since 1970. */
const MAX_TIME = 999_999_999_999_999;

/** Returns a copy of the job. Throws UsageError if it cannot be queued. */
export const checkJob = (job: QueuedJob): QueuedJob => {
  checkSessionId(job.swarm);
  const { data } = queuedJob.safeParse(job);
  if (data !== undefined && isJobName(jobName(data))) return data;
  throw new UsageError(
    `"${String(job.id).slice(0, 80)}" cannot be a job: it needs an id of up to 128 letters, digits, - and _, and the time when it was added.`,
  );
};

/** Returns the name. Throws UsageError if it is empty or too long. */
export const checkWorker = (worker: string): string => {
  if (worker !== '' && worker.length <= 80) return worker;
  throw new UsageError('A worker needs a name of up to 80 characters.');
};

/** Returns a key that is unique in the swarm. An agent that resumes after its end has a new job. */
export const jobKey = ({ id, at = 0 }: Pick<QueuedJob, 'id' | 'at'>): string =>
  at === 0 ? id : `${id}.${at}`;

/**
 * Returns a name that sorts in start order: jobs without a priority first, then by priority, each
 * by age.
 */
export const jobName = (job: QueuedJob): string => {
  const { priority = 0 } = job;
  return priority === 0 ? agedName(job) : `p${String(priority).padStart(7, '0')}.${agedName(job)}`;
};

const agedName = (job: QueuedJob): string => `${timeName(job.addedAt)}.${jobKey(job)}`;

const timeName = (ms: number): string => String(Math.trunc(ms)).padStart(15, '0');

/** Returns the name of a job that must not start before a time. Sorts by that time. */
export const delayedJobName = (name: string, notBefore: number): string =>
  `${timeName(Math.max(0, Math.min(notBefore, MAX_TIME)))}~${name}`;

/** Returns undefined if the text is not the name of a delayed job. */
export const parseDelayedJobName = (
  text: string,
): { readonly notBefore: number; readonly name: string } | undefined => {
  const [notBefore = '', name = ''] = text.split('~');
  return /^\d{15}$/.test(notBefore) && isJobName(name)
    ? { notBefore: Number(notBefore), name }
    : undefined;
};

/** False for foreign files among the jobs. */
export const isJobName = (name: string): boolean => NAME.test(name);

export const compareByAge = (a: QueuedJob, b: QueuedJob): number =>
  agedName(a) < agedName(b) ? -1 : 1;

export const compareByTurn = (a: QueuedJob, b: QueuedJob): number =>
  jobName(a) < jobName(b) ? -1 : 1;

/** Returns a folder name that is never `.` or `..`. */
export const workerFolder = (worker: string): string => `w-${encodeURIComponent(worker)}`;

/** Returns undefined if the folder is not that of a worker. */
export const workerOf = (folder: string): string | undefined => {
  try {
    return folder.startsWith('w-') ? decodeURIComponent(folder.slice(2)) : undefined;
  } catch {
    return undefined;
  }
};
