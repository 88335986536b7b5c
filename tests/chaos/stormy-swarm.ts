/**
 * A swarm of real processes with a Redis of its own, and what can happen to it: workers, the lead and Redis
 * are killed, or stopped for longer than anybody waits for them. Somebody else takes over each time.
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
/** Whoever has not ended so long after a storm hangs. */
const PATIENCE_MS = 120_000;

const FLAGS = [
  '--permission-mode',
  'bypassPermissions',
  '--agents',
  AGENTS_FLAG,
  '--output-format',
  'json',
];
/** What a start may say that comes too early: it is tried again. */
const TOO_EARLY = /is open in another process|cannot be used/;
const EXPECTED =
  /is open in another process|cannot be used|Another process has (?:taken over|had) session/;

const NO_END = { code: 'nothing', signal: null, stdout: '', stderr: '' };

interface Started {
  readonly args: readonly string[];
  readonly process: Running;
  fate: Ended | undefined;
}

export class StormySwarm {
  readonly scene: Scene & { close(): Promise<void> };
  readonly redis: RedisServer;
  readonly broker: RedisConnections;
  readonly env: Record<string, string>;
  /** Everything that was started, in order. */
  private readonly started: Started[] = [];
  workers: Running[] = [];
  lead: Running;
  private isOver = false;

  private constructor(scene: StormySwarm['scene'], redis: RedisServer, broker: RedisConnections) {
    this.scene = scene;
    this.redis = redis;
    this.broker = broker;
    this.env = { SKEIN_REDIS_URL: redis.url, SKEIN_LEASE_MS: String(LEASE_MS) };
    this.lead = this.start(['-p', PROMPT, '--session-id', SESSION, ...FLAGS]);
    for (let count = 0; count < WORKERS; count += 1) this.startWorker();
  }

  static async open(rules: Rules): Promise<StormySwarm> {
    const scene = await openScene(rules);
    await writeFile(join(scene.workspace, NOTES), 'Nothing but one line.\n');
    const redis = await openRedis();
    return new StormySwarm(scene, redis, await connectRedis(redis.url));
  }

  /** It ends by itself only where it comes up while Redis is away, and then another one comes. */
  startWorker(): void {
    const worker = this.start(['worker', '--concurrency', '20']);
    this.workers.push(worker);
    void worker.ended.then(() => {
      const isMissed = !this.isOver && this.workers.includes(worker);
      this.workers = this.workers.filter((other) => other !== worker);
      if (isMissed) setTimeout(() => this.startWorker(), 200);
    });
  }

  /** Nobody waits for it any more, and another one comes. */
  replaceWorker(worker: Running): void {
    this.workers = this.workers.filter((other) => other !== worker);
    this.startWorker();
  }

  /** Resolves when another process has the session, or it is over. */
  async takeOver(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      while ((await this.lease()) !== '') await pause(50);
      // Both ways that people have.
      const way = attempt % 2 === 0 ? ['resume', SESSION, '-p'] : ['-p', '--resume', SESSION];
      const next = this.start([...way, ...FLAGS]);
      const fate = await Promise.race([next.ended, this.hasBegun(next)]);
      if (fate === 'begun' || !TOO_EARLY.test(fate.stderr)) {
        this.lead = next;
        return;
      }
    }
  }

  /** Resolves when a job was handed over: before that there is nothing to take over. */
  async begun(): Promise<void> {
    while (Number(await this.broker.call('EXISTS', queueKey('id'))) === 0) await pause(20);
  }

  /** Kills everybody, asks when all leases have run out, and lets others go on. */
  async silence<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const all = [this.lead, ...this.workers];
    const isLed = this.started.some(
      ({ process, fate }) => process === this.lead && fate === undefined,
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

  /** How often workers let an agent go. */
  get givenBack(): number {
    const said = this.started.map(({ process }) => process.stderr).join('');
    return said.split(' is returned to the queue').length - 1;
  }

  /** Lets everybody end. Resolves with how the last lead did; nothing when it does not. */
  async finish(): Promise<Ended | undefined> {
    const late = pause(PATIENCE_MS).then(() => undefined);
    const ended = await Promise.race([this.lead.ended, late]);
    this.isOver = true;
    for (const worker of this.workers) worker.kill('SIGTERM');
    await Promise.all(this.workers.map((worker) => worker.ended));
    return ended;
  }

  /** Of all that have ended, and were not killed: those that had no reason to. */
  get badEnds(): readonly string[] {
    return this.started.flatMap(({ args, fate }) => {
      const { code, signal, stdout, stderr } = fate ?? NO_END;
      const isRight = code === 0 || signal === 'SIGKILL' || EXPECTED.test(stdout + stderr);
      return isRight
        ? []
        : [`${args.slice(0, 3).join(' ')} ended with ${code}: ${stderr.slice(-1_000)}`];
    });
  }

  /** What can be looked at later: what Redis has, what is on disk, and what everybody said. */
  async keep(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    // Sockets and pipes cannot be copied.
    const filter = (path: string) => !lstatSync(path).isSocket() && !lstatSync(path).isFIFO();
    const places = { redis: dirname(this.redis.socket), scene: this.scene.root };
    for (const [name, from] of Object.entries(places)) {
      await cp(from, join(folder, name), { recursive: true, filter });
    }
    const said = this.started.map(
      ({ args, process }) => `${process.pid} ${args.slice(0, 3).join(' ')}\n${process.stderr}`,
    );
    await writeFile(join(folder, 'said'), said.join('\n'));
  }

  async close(): Promise<void> {
    this.isOver = true;
    await this.broker.close();
    await this.scene.close();
    await this.redis.stop();
  }

  private start(args: readonly string[]): Running {
    const started = this.scene.start(args, { env: this.env });
    started.endInput();
    const entry: Started = { args, process: started, fate: undefined };
    this.started.push(entry);
    void started.ended.then((ended) => {
      entry.fate = ended;
    });
    return started;
  }

  private async hasBegun({ pid, ended }: Running): Promise<'begun'> {
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    while (!isOver) {
      if ((await this.lease()).includes(`"pid":${pid},`)) return 'begun';
      await pause(50);
    }
    return new Promise(() => {});
  }

  /** Who has the session, as Redis has it; nothing when nobody does. */
  private async lease(): Promise<string> {
    const held = await this.broker.call('GET', swarmKeys(SESSION).lease('lead'));
    return typeof held === 'string' ? held : '';
  }
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));
