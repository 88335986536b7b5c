/**
 * Picks who is hit, how and when. That depends on its seed alone; where everybody is then does not, nor whether
 * one that is hit already is spared.
 */
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
  'worker killed' as const,
  'worker killed' as const,
  'worker stopped' as const,
  'worker stopped' as const,
  'lead killed' as const,
  'lead stopped' as const,
  'Redis killed' as const,
  'Redis stopped' as const,
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
      const force = this.random.next();
      if (await isEnough()) break;
      this.begin(strike, force);
    }
    await Promise.all(this.under);
    return { strikes: this.strikes, diary: this.diary, woken: this.woken };
  }

  /** `force`, from 0 to 1, says which worker it is and how long it takes. */
  private begin(strike: Strike, force: number): void {
    const [who = ''] = strike.split(' ');
    const place = strike === 'worker killed' ? strike : who;
    if (this.hit.has(place)) return;
    this.hit.add(place);
    this.strikes[strike] = (this.strikes[strike] ?? 0) + 1;
    this.note(strike);
    this.under.push(this.act(strike, force).finally(() => this.hit.delete(place)));
  }

  private note(what: string): void {
    this.diary.push(`${((Date.now() - this.begun) / 1_000).toFixed(1)} ${what}`);
  }

  private act(strike: Strike, force: number): Promise<void> {
    switch (strike) {
      case 'worker killed':
        return this.killWorker(force);
      case 'worker stopped':
        return this.stopWorker(force);
      case 'lead killed':
        return this.killLead();
      case 'lead stopped':
        return this.stopLead();
      case 'Redis killed':
        return this.killRedis(force);
      case 'Redis stopped':
        return this.stopRedis(force);
    }
  }

  private async killWorker(force: number): Promise<void> {
    const worker = this.anyWorker(force);
    if (worker === undefined) return;
    this.swarm.replaceWorker(worker);
    worker.kill('SIGKILL');
    await worker.ended;
  }

  /** It wakes when others have what it had. */
  private async stopWorker(force: number): Promise<void> {
    const worker = this.anyWorker(force);
    if (worker === undefined) return;
    this.sleeper = worker;
    const ms = LEASE_MS * (1.5 + force);
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

  private async killRedis(force: number): Promise<void> {
    const ms = 50 + force * 1_450;
    await this.swarm.redis.kill();
    await pause(ms);
    await this.swarm.redis.start();
  }

  private async stopRedis(force: number): Promise<void> {
    const ms = 200 + force * LEASE_MS * 1.4;
    await this.swarm.redis.kill('SIGSTOP');
    await pause(ms);
    await this.swarm.redis.kill('SIGCONT');
  }

  private anyWorker(force: number): Running | undefined {
    const awake = this.swarm.workers.filter((worker) => worker !== this.sleeper);
    return awake.length < 2 ? undefined : awake[Math.floor(force * awake.length)];
  }
}
