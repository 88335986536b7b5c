import type { Clock } from '../../../../src/protocol/clock.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { RedisLeases, WriteScopes } from '../../../../src/store/redis/leases/write-scopes.js';
import { echoingConnections } from '../../../fakes/redis/echoing-redis.js';
import { redisConnections } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { describeEventIndex } from '../../contracts/event-index.js';
import { describeFencing, describeJournals } from '../../contracts/journals.js';
import { describeLeases } from '../../contracts/leases.js';
import { describeSessionStore } from '../../contracts/session-store.js';
import { redisSessions } from './redis-session-store.js';

const inRedis = async (clock: Clock) => redisSessions(await redisConnections(), { clock });
const echoing = async (clock: Clock) =>
  redisSessions(echoingConnections(await redisConnections()), { clock });
/** The lease of the lead. A test deletes it as if it had expired. */
const LEASE = swarmKeys('s_1').lease('lead');

needs.describe('redis')('the contracts of stores', () => {
  for (const describePort of [describeSessionStore, describeJournals, describeEventIndex]) {
    describePort('in Redis', inRedis);
    describePort('in Redis with doubled commands', echoing);
  }

  describeFencing('in Redis', async (clock) => {
    const redis = echoingConnections(await redisConnections());
    return {
      first: redisSessions(redis, { pid: 1, clock }),
      second: redisSessions(redis, { pid: 2, clock }),
      loseFirst: async () => void (await redis.call('DEL', LEASE)),
    };
  });

  describeLeases('in Redis', async () => {
    const redis = echoingConnections(await redisConnections());
    return {
      as: (pid) => {
        const scopes = new WriteScopes(redis, { marker: `owner-${pid}`, pid });
        return new RedisLeases(redis, scopes);
      },
      kill: async () => void (await redis.call('DEL', LEASE)),
    };
  });
});
