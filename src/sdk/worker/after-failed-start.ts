/** Decides whether an agent that the store refused to run may be started again. */
import { MAX_FAILED_STARTS } from '../../actors/worker/worker-swarm.js';
import type { ClaimedJob } from '../../protocol/session/job-queue.js';

/** Returns why the job is put aside for good. Returns undefined if the agent may be started again. */
export const afterFailedStart = (
  { failures = 0 }: Pick<ClaimedJob, 'failures'>,
  why: string,
): { readonly never: string } | undefined =>
  failures + 1 < MAX_FAILED_STARTS
    ? undefined
    : { never: `The agent could not be started ${MAX_FAILED_STARTS} times. ${why}` };
