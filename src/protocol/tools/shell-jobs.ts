/**
 * Jobs: commands that go on in the background while their agent does something else. A job belongs
 * to one agent, and ends at the latest with the session of the process that started it.
 */
import { SkeinError } from '../errors.js';
import type { Artifact } from './tool.js';

/** What a job prints is kept in memory up to here; the oldest goes first. */
export const RING_CHARACTERS = 100_000;
export const MOST_RUNNING_JOBS = 20;
/** Of those that have ended, the newest are kept. */
export const MOST_ENDED_JOBS = 50;

/** The sender of the letter which says that a job has ended. Such a letter wakes nobody. */
export const JOB_SENDER = 'job';

export type JobStatus =
  | { readonly kind: 'running' }
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  /** It reached the time limit that it was given. */
  | { readonly kind: 'timeout' }
  /** Somebody ended it: the agent, or the end of the session. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly why: string };

export interface JobView {
  /** `bash_1`, `bash_2`: counted in the session, also across its processes. */
  readonly id: string;
  readonly command: string;
  readonly status: JobStatus;
}

export interface JobCommand {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs?: number | undefined;
  /** Receives everything up to its bound, in UTF-8; the job closes it. */
  readonly artifact: Artifact;
  /** Counts only until the command runs. */
  readonly signal: AbortSignal;
}

export interface JobOutput {
  readonly text: string;
  /** Where the next reading begins. */
  readonly upTo: number;
  /** Characters between the two readings that are no longer in memory. */
  readonly dropped: number;
  readonly artifact: string;
  /** Why the artifact does not hold everything; undefined when it does. */
  readonly artifactTrouble: string | undefined;
}

export interface Job extends JobView {
  /** `from` is where the last reading ended: 0, or its `upTo`. Changes nothing. */
  read(from: number): JobOutput;
  /** Resolves at its end, after `timeoutMs`, or when the signal says so. Never rejects. */
  untilEnded(timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Resolves when nothing of it is left. */
  stop(): Promise<void>;
}

export interface Jobs {
  /** Resolves when it runs. Rejects with a JobRefusal, and with what Shell.run rejects with. */
  start(command: JobCommand): Promise<Job>;
  find(id: string): Job | undefined;
  /** Oldest first. */
  list(): readonly JobView[];
}

/** Why no job was started, in a sentence that may be shown to the model. */
export class JobRefusal extends SkeinError {
  readonly code = 'job-refusal';
}

/** `is running`, `has ended with exit code 1`: what follows the id in a sentence. */
export const jobStatusText = (status: JobStatus): string => {
  switch (status.kind) {
    case 'running':
      return 'is running';
    case 'exited':
      return `has ended with exit code ${status.exitCode}`;
    case 'signalled':
      return `was ended by signal ${status.signal}`;
    case 'timeout':
      return 'was ended at its time limit';
    case 'stopped':
      return 'was stopped';
    case 'failed':
      return `could not be followed to its end (${status.why})`;
  }
};
