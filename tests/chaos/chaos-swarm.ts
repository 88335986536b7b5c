/**
 * A swarm of real processes with a private Redis. Workers, the lead and Redis can be killed, or stopped for longer
 * than a lease lasts. Another process takes over each time.
 */
import { lstatSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  connectRedis,
  type RedisConnections,
} from '../../src/store/redis/connection/redis-connections.js';
import { queueKey, swarmKeys } from '../../src/store/redis/connection/swarm-keys.js';
import { openRedis, type RedisServer } from '../fakes/redis/own-redis-server.js';
import {
  type Ended,
  openScene,
  type Rules,
  type Running,
  type Scene,
} from '../fakes/skein-process.js';
import { AGENTS_FLAG, NOTES, PROMPT } from './swarm-script.js';

export const SESSION = 'storm';
export const LEASE_MS = 2_000;
export const WORKERS = 3;
/** Time limit for the end of the lead after the faults. */
const END_LIMIT_MS = 120_000;

const FLAGS = [
  '--permission-mode',
  'bypassPermissions',
  '--agents',
  AGENTS_FLAG,
  '--output-format',
  'json',
];
/**
 * Time limit for the removal of jobs of ended agents: longer than the longest delay of a returned job, and than
 * the search for jobs of dead workers.
 */
const QUEUE_LIMIT_MS = 30_000;
/** Lists and sets of BullMQ with open jobs. */
const OPEN_JOBS = { LLEN: ['wait', 'active'], ZCARD: ['delayed', 'prioritized'] } as const;
/** Errors of a process that started too early. The start is retried. */
const TOO_EARLY = /is open in another process|cannot be used/;
const EXPECTED =
  /is open in another process|cannot be used|Another process has (?:taken over|had) session/;

const NO_END = { code: 'no exit code', signal: null, stdout: '', stderr: '' };

interface Started {
  readonly args: readonly string[];
  readonly process: Running;
  /** Undefined while the process runs. */
  end: Ended | undefined;
}

export class ChaosSwarm {
  readonly scene: Scene & { close(): Promise<void> };
  readonly redis: RedisServer;
  readonly connections: RedisConnections;
  readonly env: Record<string, string>;
  /** All processes, in the order of their starts. */
  private readonly started: Started[] = [];
  workers: Running[] = [];
  lead: Running;
  private isOver = false;

  private constructor(
    scene: ChaosSwarm['scene'],
    redis: RedisServer,
    connections: RedisConnections,
  ) {
    this.scene = scene;
    this.redis = redis;
    this.connections = connections;
    this.env = { SKEIN_REDIS_URL: redis.url, SKEIN_LEASE_MS: String(LEASE_MS) };
    this.lead = this.start(['-p', PROMPT, '--session-id', SESSION, ...FLAGS]);
    for (let count = 0; count < WORKERS; count += 1) this.startWorker();
  }

  static async open(rules: Rules): Promise<ChaosSwarm> {
    const scene = await openScene(rules);
    await writeFile(join(scene.workspace, NOTES), 'Nothing but one line.\n');
    const redis = await openRedis();
    return new ChaosSwarm(scene, redis, await connectRedis(redis.url));
  }

  /** A worker that starts without Redis ends by itself, and another worker replaces it. */
  startWorker(): void {
    const worker = this.start(['worker', '--concurrency', '20']);
    this.workers.push(worker);
    void worker.ended.then(() => {
      const isUnexpected = !this.isOver && this.workers.includes(worker);
      this.workers = this.workers.filter((running) => running !== worker);
      if (isUnexpected) setTimeout(() => this.startWorker(), 200);
    });
  }

  /** Removes a worker from the list and starts another worker. */
  replaceWorker(worker: Running): void {
    this.workers = this.workers.filter((running) => running !== worker);
    this.startWorker();
  }

  /** Starts another lead. Resolves when it has the session, or when the session is over. */
  async takeOver(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      while ((await this.lease()) !== '') await pause(50);
      // Alternates between both commands that resume a session.
      const command = attempt % 2 === 0 ? ['resume', SESSION, '-p'] : ['-p', '--resume', SESSION];
      const next = this.start([...command, ...FLAGS]);
      const outcome = await Promise.race([next.ended, this.waitForLease(next)]);
      if (outcome === 'running' || !TOO_EARLY.test(outcome.stderr)) {
        this.lead = next;
        return;
      }
    }
  }

  /** Resolves when the queue has its first job. Before that there is no agent to take over. */
  async waitForFirstJob(): Promise<void> {
    while (Number(await this.connections.call('EXISTS', queueKey('id'))) === 0) await pause(20);
  }

  /** Kills all processes, calls `ask` after all leases have expired, and starts new processes. */
  async whileAllDead<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const all = [this.lead, ...this.workers];
    const isLed = this.started.some(
      ({ process, end }) => process === this.lead && end === undefined,
    );
    this.workers = [];
    for (const process of all) process.kill('SIGKILL');
    await Promise.all(all.map(({ ended }) => ended));
    await pause(LEASE_MS * 1.5);
    const answer = await ask();
    for (let count = 0; count < WORKERS; count += 1) this.startWorker();
    if (isLed) await this.takeOver();
    return answer;
  }

  /** Number of times that workers returned an agent to the queue. */
  get givenBack(): number {
    const output = this.started.map(({ process }) => process.stderr).join('');
    return output.split(' is returned to the queue').length - 1;
  }

  /**
   * Resolves when the workers have removed all jobs, or after the time limit. An agent ends before its job, and if
   * its worker dies in between, another worker removes the job when it is due.
   */
  private async waitForEmptyQueue(): Promise<void> {
    const deadline = Date.now() + QUEUE_LIMIT_MS;
    while (Date.now() < deadline && (await this.openJobs()) > 0) await pause(50);
  }

  private async openJobs(): Promise<number> {
    let open = 0;
    for (const [command, keys] of Object.entries(OPEN_JOBS)) {
      for (const key of keys) open += Number(await this.connections.call(command, queueKey(key)));
    }
    return open;
  }

  /** Waits for the lead and stops the workers. Returns undefined if the lead exceeds the time limit. */
  async finish(): Promise<Ended | undefined> {
    const late = pause(END_LIMIT_MS).then(() => undefined);
    const ended = await Promise.race([this.lead.ended, late]);
    await this.waitForEmptyQueue();
    this.isOver = true;
    for (const worker of this.workers) worker.kill('SIGTERM');
    await Promise.all(this.workers.map((worker) => worker.ended));
    return ended;
  }

  /** Processes that ended with an unexpected error, each as a sentence. */
  get badEnds(): readonly string[] {
    return this.started.flatMap(({ args, end }) => {
      const { code, signal, stdout, stderr } = end ?? NO_END;
      const isExpected = code === 0 || signal === 'SIGKILL' || EXPECTED.test(stdout + stderr);
      return isExpected
        ? []
        : [`${args.slice(0, 3).join(' ')} ended with ${code}: ${stderr.slice(-1_000)}`];
    });
  }

  /** Copies the data of Redis, the files of the scene and the output of all processes to `folder`. */
  async keep(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    // Sockets and pipes cannot be copied.
    const filter = (path: string) => !lstatSync(path).isSocket() && !lstatSync(path).isFIFO();
    const sources = { redis: dirname(this.redis.socket), scene: this.scene.root };
    for (const [name, from] of Object.entries(sources)) {
      await cp(from, join(folder, name), { recursive: true, filter });
    }
    const output = this.started.map(
      ({ args, process }) => `${process.pid} ${args.slice(0, 3).join(' ')}\n${process.stderr}`,
    );
    await writeFile(join(folder, 'said'), output.join('\n'));
  }

  async close(): Promise<void> {
    this.isOver = true;
    await this.connections.close();
    await this.scene.close();
    await this.redis.stop();
  }

  private start(args: readonly string[]): Running {
    const started = this.scene.start(args, { env: this.env });
    started.endInput();
    const entry: Started = { args, process: started, end: undefined };
    this.started.push(entry);
    void started.ended.then((ended) => {
      entry.end = ended;
    });
    return started;
  }

  /** Resolves when the process has the lease. Never resolves if the process ends first. */
  private async waitForLease({ pid, ended }: Running): Promise<'running'> {
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    while (!isOver) {
      if ((await this.lease()).includes(`"pid":${pid},`)) return 'running';
      await pause(50);
    }
    return new Promise(() => {});
  }

  /** The lease of the session in Redis. Empty if no process has it. */
  private async lease(): Promise<string> {
    const held = await this.connections.call('GET', swarmKeys(SESSION).lease('lead'));
    return typeof held === 'string' ? held : '';
  }
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));
