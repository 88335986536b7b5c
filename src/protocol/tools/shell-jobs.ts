/**
 * Shell jobs: commands that run in the background while their agent continues. A job belongs to one
 * agent and ends at the latest when the process that started it closes the session.
 */
import { SkeinError } from '../skein-error.js';
import type { Artifact } from './artifact.js';

/** Maximum output of a job in memory. The oldest characters are dropped first. */
export const MAX_BUFFERED_CHARACTERS = 100_000;
export const MAX_RUNNING_SHELL_JOBS = 20;
/** Maximum ended jobs in memory. The oldest are dropped first. */
export const MAX_ENDED_SHELL_JOBS = 50;

/** Sender of letters about ended jobs. These letters wake no agent. */
export const JOB_SENDER = 'job';

export type ShellJobStatus =
  | { readonly kind: 'running' }
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  /** The job reached its time limit. */
  | { readonly kind: 'timeout' }
  /** The agent or the end of the session stopped the job. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly why: string };

export interface ShellJobView {
  /** `bash_1`, `bash_2`, …: counted per session, across its processes. */
  readonly id: string;
  readonly command: string;
  readonly status: ShellJobStatus;
}

export interface ShellJobCommand {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs?: number | undefined;
  /** Receives the whole output up to MAX_ARTIFACT_BYTES, in UTF-8. The job closes it. */
  readonly artifact: Artifact;
  /** Aborts the start. No effect once the command runs. */
  readonly signal: AbortSignal;
}

export interface ShellJobOutput {
  readonly text: string;
  /** Offset for the next `read`. */
  readonly upTo: number;
  /** Characters after `from` that are no longer in memory. */
  readonly dropped: number;
  readonly artifact: string;
  /** Why the artifact is incomplete, or undefined if it is complete. */
  readonly artifactProblem: string | undefined;
}

export interface ShellJobHandle extends ShellJobView {
  /** Returns the output after `from`: 0, or `upTo` of the last read. Has no effect on the job. */
  read(from: number): ShellJobOutput;
  /** Resolves when the job ends, after `timeoutMs`, or when the signal aborts. Never rejects. */
  untilEnded(timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Kills the job. Resolves when all its processes have ended. */
  stop(): Promise<void>;
}

export interface ShellJobs {
  /** Resolves when the command runs. Rejects with ShellJobRefusal, or like `Shell.run`. */
  start(command: ShellJobCommand): Promise<ShellJobHandle>;
  find(id: string): ShellJobHandle | undefined;
  /** Returns all jobs, oldest first. */
  list(): readonly ShellJobView[];
}

/** Why no job was started. The message may be shown to the model. */
export class ShellJobRefusal extends SkeinError {
  readonly code = 'job-refusal';
}

/** Returns the predicate of a sentence about a job: `is running`, `has ended with exit code 1`. */
export const shellJobStatusText = (status: ShellJobStatus): string => {
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
