/** A redis-server for a single test, which can kill, stop and restart it with its stored data. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  connectRedis,
  type RedisConnections,
} from '../../../src/store/redis/connection/redis-connections.js';

export interface RedisServer {
  /** `unix://…`, valid as SKEIN_REDIS_URL. */
  readonly url: string;
  readonly socket: string;
  readonly pid: number;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Restarts the server after a kill, with the data of its append-only file. */
  start(): Promise<void>;
  /** Copies the append-only file. The result kills the server and restarts it with that copy. */
  snapshot(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/** `appendfsync always`: an acknowledged write survives every kill. */
const OPTIONS = ['--port', '0', '--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];

/** The caller stops the server. */
export const openRedis = async (...options: readonly string[]): Promise<RedisServer> => {
  // The path of a socket has at most 107 bytes.
  const folder = await mkdtemp('/tmp/skein-redis-');
  const socket = join(folder, 's');
  const args = [...OPTIONS, '--unixsocket', socket, '--unixsocketperm', '700', '--dir', folder];
  let child: ChildProcess;
  const start = async () => {
    child = spawn('redis-server', [...args, ...options], { stdio: 'ignore' });
    await untilAnswering(socket);
  };
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode !== null || child.signalCode !== null || !child.kill(signal)) return;
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await gone;
  };
  await start();
  let copies = 0;
  return {
    async snapshot() {
      copies += 1;
      const [data, copy] = [join(folder, 'appendonlydir'), join(folder, `copy-${copies}`)];
      await cp(data, copy, { recursive: true });
      return async () => {
        await kill();
        await rm(data, { recursive: true });
        await cp(copy, data, { recursive: true });
        await start();
      };
    },
    url: `unix://${socket}`,
    socket,
    get pid() {
      return child.pid ?? 0;
    },
    start,
    kill,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
};

/** Stops when the test ends. */
export const ownRedisServer = async (...options: readonly string[]): Promise<RedisServer> => {
  const server = await openRedis(...options);
  onTestFinished(() => server.stop());
  return server;
};

/** A server with connections to it. Both close when the test ends. */
export const ownRedisConnections = async (): Promise<
  RedisConnections & { readonly server: RedisServer }
> => {
  const server = await ownRedisServer();
  const connections = await connectRedis(server.url);
  onTestFinished(() => connections.close());
  return Object.assign(connections, { server });
};

const untilAnswering = async (socket: string): Promise<void> => {
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    if (await answers(socket)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('redis-server did not start.');
};

/** True if the server answers PONG, and not that it is still loading. */
const answers = (socket: string): Promise<boolean> =>
  new Promise((resolve) => {
    const connection = net.connect(socket, () => connection.write('PING\r\n'));
    connection.once('data', (reply) => {
      connection.destroy();
      resolve(reply.toString().startsWith('+PONG'));
    });
    connection.once('error', () => resolve(false));
  });
