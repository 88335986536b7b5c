/** What counts for the rate at which jobs are begun: BullMQ counts those that are taken. */
import type { ConsumeOptions } from '../../../protocol/session/job-queue.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { queueKey } from '../connection/redis-keys.js';
import { UNCOUNT } from './job-scripts.js';

/** Between the time that a job has for when it was taken and when Redis was told. */
const LATE_MS = 1_000;

interface CountedJob {
  readonly id?: string;
  readonly attemptsStarted: number;
  readonly processedOn?: number;
}

/** Of a job that nobody begins. Never rejects: then it counts. */
export const uncount = async (
  broker: RedisConnections,
  { id = '', attemptsStarted, processedOn = 0 }: CountedJob,
  rate: ConsumeOptions['rate'],
): Promise<void> => {
  if (rate === undefined) return;
  const ageMs = Math.max(0, Date.now() - processedOn - LATE_MS);
  const keys = [queueKey('limiter'), queueKey(id)];
  await broker.run(UNCOUNT, keys, [attemptsStarted, rate.perMs, ageMs]).catch(() => {});
};
