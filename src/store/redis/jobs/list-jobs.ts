/** Lists the queued and running jobs of a swarm or of all swarms. */
import { parseJson } from '../../../lib/json/parse-json.js';
import { type ListedJob, queuedJob } from '../../../protocol/session/job-queue.js';
import { checkSessionId } from '../../shared/check-session-id.js';
import { compareByAge } from '../../shared/job-name.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { queueKey } from '../connection/swarm-keys.js';
import { JOB_SCRIPTS } from './job-scripts.js';

/** Number of jobs that a script call reads. */
const BATCH = 500;

/** Returns the jobs of a swarm, oldest first. */
export const listJobs = async (
  redis: RedisConnections,
  swarm: string,
): Promise<readonly ListedJob[]> => jobsWithPrefix(redis, `${checkSessionId(swarm)}.`);

/** Returns the jobs of all swarms by swarm, oldest first. */
export const allJobs = async (
  redis: RedisConnections,
): Promise<ReadonlyMap<string, readonly ListedJob[]>> => {
  const bySwarm = new Map<string, ListedJob[]>();
  for (const job of await jobsWithPrefix(redis, '')) {
    const swarmJobs = bySwarm.get(job.swarm);
    if (swarmJobs === undefined) bySwarm.set(job.swarm, [job]);
    else swarmJobs.push(job);
  }
  return bySwarm;
};

/** Returns the jobs with ids that start with `prefix`. */
const jobsWithPrefix = async (
  redis: RedisConnections,
  prefix: string,
): Promise<readonly ListedJob[]> => {
  const keys = ['wait', 'prioritized', 'delayed', 'active'].map(queueKey);
  const ids = (await redis.run(JOB_SCRIPTS.idsOfSwarm, keys, [prefix])) as readonly string[];
  const jobs: ListedJob[] = [];
  for (let at = 0; at < ids.length; at += BATCH) {
    const batch = ids.slice(at, at + BATCH);
    const jobKeys = batch.flatMap((id) => [queueKey(id), queueKey(`${id}:lock`)]);
    const rows = (await redis.run(JOB_SCRIPTS.jobsById, jobKeys, [])) as readonly [
      string,
      string,
    ][];
    for (const [text, worker] of rows) {
      const { data } = queuedJob.safeParse(parseJson(text));
      if (data !== undefined) jobs.push({ ...data, worker: worker === '' ? undefined : worker });
    }
  }
  return jobs.sort(compareByAge);
};
