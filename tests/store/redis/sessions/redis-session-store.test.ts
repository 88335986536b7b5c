import type { Clock } from '../../../../src/protocol/clock.js';
import { swarmKeys } from '../../../../src/store/redis/connection/swarm-keys.js';
import { RedisLeases, WriteScopes } from '../../../../src/store/redis/leases/write-scopes.js';
import { echoingBroker } from '../../../fakes/redis/echoing-redis.js';
import { redisBroker } from '../../../fakes/redis/redis-server.js';
import { needs } from '../../../setup/needs.js';
import { describeEventIndex } from '../../contracts/event-index.js';
import { describeFencing, describeJournals } from '../../contracts/journals.js';
import { describeLeases } from '../../contracts/leases.js';
import { describeSessionStore } from '../../contracts/session-store.js';
import { redisSessions } from './redis-session-store.js';

const inRedis = async (clock: Clock) => redisSessions(await redisBroker(), { clock });
const echoing = async (clock: Clock) =>
  redisSessions(echoingBroker(await redisBroker()), { clock });
/** As when it has run out. */
const LEASE = swarmKeys('s_1').lease('lead');

needs.describe('redis')('what every store keeps to', () => {
  for (const describePort of [describeSessionStore, describeJournals, describeEventIndex]) {
    describePort('in Redis', inRedis);
    describePort('in Redis, where everything arrives twice', echoing);
  }

  describeFencing('in Redis', async (clock) => {
    const broker = echoingBroker(await redisBroker());
    return {
      first: redisSessions(broker, { pid: 1, clock }),
      second: redisSessions(broker, { pid: 2, clock }),
      loseFirst: async () => void (await broker.call('DEL', LEASE)),
    };
  });

  describeLeases('in Redis', async () => {
    const broker = echoingBroker(await redisBroker());
    return {
      as: (pid) => {
        const keeper = new WriteScopes(broker, { marker: `owner-${pid}`, pid });
        return new RedisLeases(broker, keeper);
      },
      kill: async () => void (await broker.call('DEL', LEASE)),
    };
  });
});
