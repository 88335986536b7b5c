/** The only module that imports BullMQ, and the options that every BullMQ object of Skein needs. */
import type { EventEmitter } from 'node:events';
import type { RedisConnections } from '../connection/redis-connections.js';
import { QUEUE_PREFIX } from '../connection/swarm-keys.js';

export { type Job, Queue, UnrecoverableError, WaitingError, Worker } from 'bullmq';

export const bullConnection = (redis: RedisConnections) => ({
  connection: redis.connection('commands'),
  prefix: QUEUE_PREFIX,
});

/**
 * Ignores `error` events, because `RedisConnections` reports outages. An `error` event without a
 * listener would end the process.
 */
export const ignoreErrors = (emitter: EventEmitter): void => {
  emitter.on('error', () => {});
};
