/** What jobs and those who work on them are called. Both become names of files. */
import { UsageError } from '../../protocol/errors.js';
import { type QueuedJob, queuedJob } from '../../protocol/session/job-queue.js';
import { checkSessionId } from './session-meta.js';

const NAME = /^(?:p\d{7}\.)?\d{15}\.[A-Za-z0-9][A-Za-z0-9_-]{0,127}(?:\.\d{1,15})?$/;
const LATEST = 999_999_999_999_999;

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

/** Tells the jobs of a swarm apart: an agent that goes on after it had ended is another job. */
export const jobKey = ({ id, at = 0 }: Pick<QueuedJob, 'id' | 'at'>): string =>
  at === 0 ? id : `${id}.${at}`;

/** Sorts by whose turn it is: those without a priority, then the others by theirs, each by age. */
export const jobName = (job: QueuedJob): string => {
  const { priority = 0 } = job;
  return priority === 0 ? agedName(job) : `p${String(priority).padStart(7, '0')}.${agedName(job)}`;
};

const agedName = (job: QueuedJob): string => `${timeName(job.addedAt)}.${jobKey(job)}`;

const timeName = (ms: number): string => String(Math.trunc(ms)).padStart(15, '0');

/** Of a job that nobody begins before a time: sorts by that. */
export const laterName = (name: string, notBefore: number): string =>
  `${timeName(Math.max(0, Math.min(notBefore, LATEST)))}~${name}`;

/** Undefined when it is no such name. */
export const readLaterName = (
  text: string,
): { readonly notBefore: number; readonly name: string } | undefined => {
  const [notBefore = '', name = ''] = text.split('~');
  return /^\d{15}$/.test(notBefore) && isJobName(name)
    ? { notBefore: Number(notBefore), name }
    : undefined;
};

/** Something else may lie among the jobs. */
export const isJobName = (name: string): boolean => NAME.test(name);

export const inOrderOfAge = (one: QueuedJob, other: QueuedJob): number =>
  agedName(one) < agedName(other) ? -1 : 1;

export const inOrderOfTurn = (one: QueuedJob, other: QueuedJob): number =>
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
