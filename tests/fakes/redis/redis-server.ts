/**
 * Some Redis, with nothing in it, for tests that can do with any: the server that SKEIN_TEST_REDIS_URL names, else
 * a redis-server of the test's own, else Valkey. A test that stops it or gives it options takes an ownRedisServer.
 */
import { inject, onTestFinished } from 'vitest';
import {
  connectRedis,
  type RedisConnections,
} from '../../../src/store/redis/connection/redis-connections.js';
import { parseRedisUrl } from '../../../src/store/redis/connection/redis-url.js';
import { ownRedisServer } from './own-redis-server.js';
import { valkeyServer } from './valkey-server.js';

export interface RedisPlace {
  /** What a SKEIN_REDIS_URL may be. */
  readonly url: string;
}

export interface RedisBroker<Server extends RedisPlace = RedisPlace> extends RedisConnections {
  readonly server: Server;
}

/** For one test, which asks for it once. */
export const redisServer = async (): Promise<RedisPlace> => {
  const given = process.env.SKEIN_TEST_REDIS_URL ?? '';
  if (given !== '') return emptied(ownDatabase(given));
  return inject('missingTools')['own-redis'] === undefined ? ownRedisServer() : valkeyServer();
};

/** A server with a broker that is connected to it; both go with the test. */
export const redisBroker = async (): Promise<RedisBroker> => {
  const server = await redisServer();
  const broker = await connectRedis(server.url);
  onTestFinished(() => broker.close());
  return Object.assign(broker, { server });
};

/**
 * Files run side by side, so each process of vitest has a database: those behind the one that is named. Channels
 * are not of a database: what others say there are hints, and a wrong hint does no harm.
 */
const ownDatabase = (given: string): string => {
  const { kind, db = 0 } = parseRedisUrl(given);
  const own = String(db + Number(process.env.VITEST_POOL_ID));
  const url = new URL(given);
  if (kind === 'single') url.pathname = `/${own}`;
  else if (kind === 'socket') url.searchParams.set('db', own);
  else throw new Error('SKEIN_TEST_REDIS_URL names one server, and no cluster and no Sentinel.');
  return url.href;
};

const emptied = async (url: string): Promise<RedisPlace> => {
  const broker = await connectRedis(url);
  await broker.call('FLUSHDB');
  await broker.close();
  return { url };
};
