import { onTestFinished } from 'vitest';
import type { JobQueue } from '../../../src/protocol/job-queue.js';
import { openBroker } from '../../../src/store/redis/broker.js';
import { BullQueue } from '../../../src/store/redis/bull-queue.js';
import { redisServer } from '../../fakes/redis-server.js';
import { needs } from '../../setup/needs.js';
import { describeJobQueue } from '../contracts/job-queue.js';

needs.describe('redis')('a queue of many machines', () => {
  describeJobQueue('of BullMQ', async () => {
    const server = await redisServer();
    const kills = new Map<JobQueue, () => Promise<void>>();
    return {
      terms: {},
      async queue() {
        const broker = await openBroker(server.url);
        const queue = new BullQueue(broker, { lockMs: 1_000, stalledMs: 300 });
        onTestFinished(() => broker.close());
        kills.set(queue, () => broker.close());
        return queue;
      },
      async kill(_worker, queue) {
        await kills.get(queue)?.();
      },
    };
  });
});
