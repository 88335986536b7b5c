/**
 * Empty Redis for tests that work with any server: the server that SKEIN_TEST_REDIS_URL names, else
 * an own redis-server, else Valkey. A test that stops the server or sets options uses
 * ownRedisServer.
 */
import { inject, onTestFinished } from 'vitest';
import {
  connectRedis,
  type RedisConnections,
} from '../../../src/store/redis/connection/redis-connections.js';
import { parseRedisUrl } from '../../../src/store/redis/connection/redis-url.js';
import { ownRedisServer } from './own-redis-server.js';
import { valkeyServer } from './valkey-server.js';

export interface RedisEndpoint {
  /** Valid as SKEIN_REDIS_URL. */
  readonly url: string;
}

export interface ServerConnections<Server extends RedisEndpoint = RedisEndpoint>
  extends RedisConnections {
  readonly server: Server;
}

/** For a single call per test. */
export const redisServer = async (): Promise<RedisEndpoint> => {
  const given = process.env.SKEIN_TEST_REDIS_URL ?? '';
  if (given !== '') return emptied(ownDatabase(given));
  return inject('missingTools')['own-redis'] === undefined ? ownRedisServer() : valkeyServer();
};

/** A server with connections to it. Both close when the test ends. */
export const redisConnections = async (): Promise<ServerConnections> => {
  const server = await redisServer();
  const connections = await connectRedis(server.url);
  onTestFinished(() => connections.close());
  return Object.assign(connections, { server });
};

/**
 * Test files run in parallel, so each vitest process has its own database, numbered after the given
 * database. All databases share the channels, but messages there are only hints, and a wrong hint
 * does no harm.
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

const emptied = async (url: string): Promise<RedisEndpoint> => {
  const connections = await connectRedis(url);
  await connections.call('FLUSHDB');
  await connections.close();
  return { url };
};
