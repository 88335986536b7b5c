import { expect, onTestFinished, test } from 'vitest';
import { queueKey, swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import {
  expectedType,
  keysOfAgent,
  sharedKeys,
} from '../../../../src/store/redis/connection/wrong-type.js';
import { BullQueue } from '../../../../src/store/redis/jobs/bull-queue.js';
import { bullJobId } from '../../../../src/store/redis/jobs/read-bull-job.js';
import { startKeyChecks } from '../../../../src/store/redis/leases/start-key-checks.js';
import { WriteScopes } from '../../../../src/store/redis/leases/write-scopes.js';
import { redisConnections } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';

const KEYS = swarmKeys('s_1');
const JOB = { id: 'a_1', swarm: 's_1', addedAt: 0, at: 3 };
const JOB_KEY = queueKey(bullJobId(JOB));

needs.describe('redis')('a lead with a key of a wrong type', () => {
  const agents = ['a_lead', 'a_1'].flatMap((agent) => keysOfAgent(KEYS, agent));
  test.each([...sharedKeys(KEYS), ...agents, JOB_KEY])(
    '%s loses its session with a sentence that names the key',
    async (key) => {
      const redis = await redisConnections();
      const jobs = new BullQueue(redis);
      const scopes = new WriteScopes(redis, { marker: 'test', pid: 1 });
      onTestFinished(() => scopes.close());
      onTestFinished(() => jobs.close());
      await jobs.add(JOB);
      const lead = await scopes.take('s_1');
      const lost = new Promise((resolve) => lead.lost.addEventListener('abort', resolve));
      onTestFinished(startKeyChecks(redis, lead, 'a_lead', jobs, 5));
      await redis.call('DEL', key);
      await redis.call(expectedType(key) === 'string' ? 'SADD' : 'SET', key, 'wrong');
      await lost;
      expect(String(lead.lost.reason)).toContain(`The key ${key} in Redis`);
    },
  );
});
