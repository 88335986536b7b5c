/** Picks who is hit, how and when. What it picks depends on its seed alone; when a process dies does not. */
import type { Ended, Running } from '../fakes/skein-process.js';
import type { Random } from './seeded-random.js';
import { LEASE_MS, pause, type StormySwarm } from './stormy-swarm.js';

export type Strike =
  | 'worker killed'
  | 'worker stopped'
  | 'lead killed'
  | 'lead stopped'
  | 'Redis killed'
  | 'Redis stopped';

/** Workers most often, as there are most of them. */
const STRIKES: readonly [Strike, ...Strike[]] = [
  ...(['worker killed', 'worker killed', 'worker stopped', 'worker stopped'] as const),
  ...(['lead killed', 'lead stopped', 'Redis killed', 'Redis stopped'] as const),
];

export interface StormFigures {
  readonly strikes: Partial<Record<Strike, number>>;
  /** What was done when, in seconds. */
  readonly diary: readonly string[];
  /** Of leads that woke up when another process had their session. */
  readonly woken: readonly Ended[];
}

export class Storm {
  private readonly swarm: StormySwarm;
  private readonly random: Random;
  private readonly strikes: Partial<Record<Strike, number>> = {};
  private readonly diary: string[] = [];
  private readonly begun = Date.now();
  private readonly woken: Ended[] = [];
  /** What is hit now: one lead, one Redis, and one worker at a time sleep or are replaced. */
  private readonly hit = new Set<string>();
  private readonly under: Promise<void>[] = [];
  private sleeper: Running | undefined;

  constructor(swarm: StormySwarm, random: Random) {
    this.swarm = swarm;
    this.random = random;
  }

  /** Resolves when so many have been hit, or enough is done, and somebody is in each place again. */
  async rage(most: number, isEnough: () => Promise<boolean>): Promise<StormFigures> {
    for (let count = 0; count < most; count += 1) {
      await pause(this.random.between(200, 1_800));
      const strike = this.random.pick(STRIKES);
      if (await isEnough()) break;
      this.begin(strike);
    }
    await Promise.all(this.under);
    return { strikes: this.strikes, diary: this.diary, woken: this.woken };
  }

  private begin(strike: Strike): void {
    const [who = ''] = strike.split(' ');
    const place = strike === 'worker killed' ? strike : who;
    if (this.hit.has(place)) return;
    this.hit.add(place);
    this.strikes[strike] = (this.strikes[strike] ?? 0) + 1;
    this.note(strike);
    this.under.push(this.act(strike).finally(() => this.hit.delete(place)));
  }

  private note(what: string): void {
    this.diary.push(`${((Date.now() - this.begun) / 1_000).toFixed(1)} ${what}`);
  }

  private act(strike: Strike): Promise<void> {
    switch (strike) {
      case 'worker killed':
        return this.killWorker();
      case 'worker stopped':
        return this.stopWorker();
      case 'lead killed':
        return this.killLead();
      case 'lead stopped':
        return this.stopLead();
      case 'Redis killed':
        return this.killRedis();
      case 'Redis stopped':
        return this.stopRedis();
    }
  }

  private async killWorker(): Promise<void> {
    const worker = this.anyWorker();
    if (worker === undefined) return;
    this.swarm.replaceWorker(worker);
    worker.kill('SIGKILL');
    await worker.ended;
  }

  /** It wakes when others have what it had. */
  private async stopWorker(): Promise<void> {
    const worker = this.anyWorker();
    if (worker === undefined) return;
    this.sleeper = worker;
    const ms = this.random.between(LEASE_MS * 1.5, LEASE_MS * 2.5);
    worker.kill('SIGSTOP');
    await pause(ms);
    worker.kill('SIGCONT');
    this.sleeper = undefined;
  }

  private async killLead(): Promise<void> {
    const { lead } = this.swarm;
    lead.kill('SIGKILL');
    await lead.ended;
    await this.swarm.takeOver();
    this.note('lead replaced');
  }

  private async stopLead(): Promise<void> {
    const { lead } = this.swarm;
    lead.kill('SIGSTOP');
    await this.swarm.takeOver();
    this.note('lead woken');
    lead.kill('SIGCONT');
    this.woken.push(await lead.ended);
  }

  private async killRedis(): Promise<void> {
    const ms = this.random.between(50, 1_500);
    await this.swarm.redis.kill();
    await pause(ms);
    await this.swarm.redis.start();
  }

  private async stopRedis(): Promise<void> {
    const ms = this.random.between(200, LEASE_MS * 1.5);
    await this.swarm.redis.kill('SIGSTOP');
    await pause(ms);
    await this.swarm.redis.kill('SIGCONT');
  }

  private anyWorker(): Running | undefined {
    const awake = this.swarm.workers.filter((worker) => worker !== this.sleeper);
    return awake.length < 2 ? undefined : awake[this.random.between(0, awake.length - 1)];
  }
}
