/** Real Redis servers with their own ports: behind TLS, watched by a Sentinel, or in a cluster. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const run = promisify(execFile);

/** Ports that are free now. Another process may take them before the test does. */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const servers = Array.from({ length: count }, () => net.createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => resolve((server.address() as net.AddressInfo).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
};

export interface PortServer {
  readonly port: number;
  /** Does not wait for the signals SIGSTOP and SIGCONT. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** Stops when the test ends. */
const serverAt = async (port: number, args: readonly string[], look: Look): Promise<PortServer> => {
  const folder = await mkdtemp('/tmp/skein-redis-');
  const child = spawn('redis-server', [...args, '--dir', folder], { stdio: 'ignore' });
  const kill = (signal?: NodeJS.Signals) => ended(child, signal);
  onTestFinished(async () => {
    await kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  await until(() => look(port));
  return { port, kill };
};

type Look = (port: number) => Promise<boolean>;

const ended = async (child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await gone;
};

export const until = async (condition: () => Promise<boolean>): Promise<void> => {
  for (let attempt = 0; attempt < 2_000; attempt += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('The condition did not become true.');
};

/** True if a server listens at the port. */
const listens: Look = (port) =>
  new Promise((resolve) => {
    const connection = net.connect(port, '127.0.0.1', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', () => resolve(false));
  });

const NO_PERSISTENCE = ['--save', '', '--appendonly', 'no', '--bind', '127.0.0.1'];

export const plainServer = async (...options: readonly string[]): Promise<PortServer> => {
  const [port = 0] = await freePorts(1);
  return serverAt(port, ['--port', String(port), ...NO_PERSISTENCE, ...options], listens);
};

/** The certificate signs itself, and clients need no certificate. */
export const tlsServer = async (certificate: {
  readonly key: string;
  readonly cert: string;
}): Promise<PortServer & { readonly ca: string }> => {
  const [port = 0] = await freePorts(1);
  const folder = await mkdtemp('/tmp/skein-tls-');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [key, ca] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  await writeFile(key, certificate.key);
  await writeFile(ca, certificate.cert);
  const tls = ['--tls-port', String(port), '--port', '0', '--tls-auth-clients', 'no'];
  const files = ['--tls-cert-file', ca, '--tls-key-file', key, '--tls-ca-cert-file', ca];
  return { ...(await serverAt(port, [...tls, ...files, ...NO_PERSISTENCE], listens)), ca };
};

const cli = async (port: number, ...words: readonly string[]): Promise<string> =>
  (await run('redis-cli', ['-p', String(port), ...words])).stdout;

export interface WatchedServers {
  readonly url: string;
  readonly master: PortServer;
  readonly replica: PortServer;
  /** Waits until the replica has all data of the master. */
  inStep(): Promise<void>;
  /** Hides the writes of `work` from the replica, then kills the master and resumes the replica. */
  withoutReplica(work: () => Promise<void>): Promise<void>;
}

/** A master, a replica, and a Sentinel that promotes the replica when the master is gone. */
export const watchedServers = async (): Promise<WatchedServers> => {
  const master = await plainServer();
  const replica = await plainServer('--replicaof', `127.0.0.1 ${master.port}`);
  await until(async () =>
    (await cli(replica.port, 'info', 'replication')).includes('master_link_status:up'),
  );
  const [port = 0] = await freePorts(1);
  const folder = await mkdtemp('/tmp/skein-sentinel-');
  const file = join(folder, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor main 127.0.0.1 ${master.port} 1`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 3000',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  onTestFinished(async () => {
    await ended(child);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  await until(() => listens(port));
  // The Sentinel can only choose a replica that it knows.
  await until(async () =>
    (await cli(port, 'sentinel', 'replicas', 'main')).includes(String(replica.port)),
  );
  return {
    url: `redis+sentinel://127.0.0.1:${port}/main`,
    master,
    replica,
    async inStep() {
      const offset = async (port: number, of: string) =>
        new RegExp(`${of}_repl_offset:(\\d+)`).exec(await cli(port, 'info', 'replication'))?.[1];
      const written = Number(await offset(master.port, 'master'));
      await until(async () => Number(await offset(replica.port, 'slave')) >= written);
    },
    async withoutReplica(work) {
      await replica.kill('SIGSTOP');
      await cli(master.port, 'client', 'kill', 'type', 'replica');
      await work();
      await master.kill();
      await replica.kill('SIGCONT');
    },
  };
};

/** Three masters that share the hash slots. */
export const clusterServers = async (): Promise<{ readonly url: string }> => {
  const ports = await freePorts(6);
  const nodes = await Promise.all(
    ports.slice(0, 3).map((port, index) => {
      const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(ports[index + 3])];
      return serverAt(port, ['--port', String(port), ...cluster, ...NO_PERSISTENCE], listens);
    }),
  );
  const places = nodes.map(({ port }) => `127.0.0.1:${port}`);
  await run('redis-cli', ['--cluster', 'create', ...places, '--cluster-yes']);
  await until(async () => {
    const infos = await Promise.all(nodes.map(({ port }) => cli(port, 'cluster', 'info')));
    return infos.every((info) => info.includes('cluster_state:ok'));
  });
  return { url: `redis+cluster://${places.join(',')}` };
};
