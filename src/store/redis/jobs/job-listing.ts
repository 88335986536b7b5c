/** The jobs that have not ended, as they are in the queue: of one swarm, or of all. */
import { type ListedJob, queuedJob } from '../../../protocol/session/job-queue.js';
import { inOrderOfAge } from '../../shared/job-names.js';
import { checkSessionId } from '../../shared/session-meta.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { queueKey } from '../connection/redis-keys.js';
import { IDS_OF_SWARM, JOBS_BY_ID } from './job-scripts.js';

/** Of so many jobs one script tells. */
const BATCH = 500;

/** The oldest first. */
export const listJobs = async (
  broker: RedisConnections,
  swarm: string,
): Promise<readonly ListedJob[]> => jobsThatBegin(broker, `${checkSessionId(swarm)}.`);

/** By swarm, the oldest first. */
export const allJobs = async (
  broker: RedisConnections,
): Promise<ReadonlyMap<string, readonly ListedJob[]>> => {
  const bySwarm = new Map<string, ListedJob[]>();
  for (const job of await jobsThatBegin(broker, '')) {
    const own = bySwarm.get(job.swarm);
    if (own === undefined) bySwarm.set(job.swarm, [job]);
    else own.push(job);
  }
  return bySwarm;
};

/** Those whose ids begin so. */
const jobsThatBegin = async (
  broker: RedisConnections,
  beginning: string,
): Promise<readonly ListedJob[]> => {
  const keys = ['wait', 'prioritized', 'delayed', 'active'].map(queueKey);
  const ids = (await broker.run(IDS_OF_SWARM, keys, [beginning])) as readonly string[];
  const jobs: ListedJob[] = [];
  for (let at = 0; at < ids.length; at += BATCH) {
    const batch = ids.slice(at, at + BATCH);
    const each = batch.flatMap((id) => [queueKey(id), queueKey(`${id}:lock`)]);
    const found = (await broker.run(JOBS_BY_ID, each, [])) as readonly [string, string][];
    for (const [text, worker] of found) {
      const { data } = queuedJob.safeParse(parsed(text));
      if (data !== undefined) jobs.push({ ...data, worker: worker === '' ? undefined : worker });
    }
  }
  return jobs.sort(inOrderOfAge);
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
