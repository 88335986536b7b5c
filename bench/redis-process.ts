/** Starts a redis-server for the bench with the recommended settings: append-only file, synced every second. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { end } from './simulator-process.js';

export interface RedisProcess {
  /** Value for SKEIN_REDIS_URL. */
  readonly url: string;
  readonly socket: string;
  readonly pid: number;
  close(): Promise<void>;
}

const OPTIONS = ['--port', '0', '--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec'];

export const hasRedis = (): boolean =>
  spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;

export const startRedisProcess = async (): Promise<RedisProcess> => {
  // The path of a socket has at most 107 bytes.
  const folder = mkdtempSync('/tmp/skein-bench-redis-');
  const socket = join(folder, 's');
  const args = [...OPTIONS, '--unixsocket', socket, '--unixsocketperm', '700', '--dir', folder];
  const child = spawn('redis-server', args, { stdio: 'ignore' });
  await untilOpen(socket);
  return {
    url: `unix://${socket}`,
    socket,
    pid: child.pid ?? 0,
    async close() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const untilOpen = async (socket: string): Promise<void> => {
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    if (await isOpen(socket)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('redis-server did not start.');
};

const isOpen = (socket: string): Promise<boolean> =>
  new Promise((resolve) => {
    const connection = net.connect(socket, () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', () => resolve(false));
  });
