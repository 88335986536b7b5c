/** The jobs of one swarm that have not ended, out of the keys of BullMQ. */
import { type ListedJob, queuedJob } from '../../protocol/job-queue.js';
import { inOrderOfAge } from '../job-names.js';
import { checkSessionId } from '../session-meta.js';
import type { Broker } from './broker.js';
import { IDS_OF_SWARM, JOBS_BY_ID } from './job-scripts.js';
import { queueKey } from './redis-keys.js';

/** Of so many jobs one script tells. */
const BATCH = 500;

/** The oldest first. */
export const listJobs = async (broker: Broker, swarm: string): Promise<readonly ListedJob[]> => {
  const places = ['wait', 'prioritized', 'delayed', 'active'];
  const keys = places.map(queueKey);
  const ids = await broker.run(IDS_OF_SWARM, keys, [`${checkSessionId(swarm)}.`]);
  const jobs: ListedJob[] = [];
  for (const batch of inBatches(ids as readonly string[])) {
    const each = batch.flatMap((id) => [queueKey(id), queueKey(`${id}:lock`)]);
    const found = (await broker.run(JOBS_BY_ID, each, [])) as readonly [string, string][];
    for (const [text, worker] of found) {
      const { data } = queuedJob.safeParse(parsed(text));
      if (data !== undefined) jobs.push({ ...data, worker: worker === '' ? undefined : worker });
    }
  }
  return jobs.sort(inOrderOfAge);
};

const inBatches = (ids: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, at) =>
    ids.slice(at * BATCH, (at + 1) * BATCH),
  );

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
