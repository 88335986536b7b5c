/**
 * Injects random faults into a swarm. Kind and time of a fault depend on the seed only. The state of the swarm at
 * that time does not, so a fault is skipped if its target is faulty already.
 */
import type { Ended, Running } from '../fakes/skein-process.js';
import { type ChaosSwarm, LEASE_MS, pause } from './chaos-swarm.js';
import type { Random } from './seeded-random.js';

export type Fault =
  | 'worker killed'
  | 'worker stopped'
  | 'lead killed'
  | 'lead stopped'
  | 'Redis killed'
  | 'Redis stopped';

/** Faults by weight. Worker faults are the most frequent. */
const FAULTS: readonly [Fault, ...Fault[]] = [
  'worker killed' as const,
  'worker killed' as const,
  'worker stopped' as const,
  'worker stopped' as const,
  'lead killed' as const,
  'lead stopped' as const,
  'Redis killed' as const,
  'Redis stopped' as const,
];

export interface InjectedFaults {
  /** Number of faults by kind. */
  readonly strikes: Partial<Record<Fault, number>>;
  /** Faults in order, each with its time in seconds. */
  readonly diary: readonly string[];
  /** Ends of stopped leads that resumed after another process had taken over their session. */
  readonly resumedLeads: readonly Ended[];
}

export class FaultInjector {
  private readonly swarm: ChaosSwarm;
  private readonly random: Random;
  private readonly strikes: Partial<Record<Fault, number>> = {};
  private readonly diary: string[] = [];
  private readonly startedAt = Date.now();
  private readonly resumedLeads: Ended[] = [];
  /** Targets with a fault in progress. Each target has at most a single fault at a time. */
  private readonly faulty = new Set<string>();
  private readonly inProgress: Promise<void>[] = [];
  private stoppedWorker: Running | undefined;

  constructor(swarm: ChaosSwarm, random: Random) {
    this.swarm = swarm;
    this.random = random;
  }

  /** Injects up to `max` faults, or until `isEnough`. Resolves when every dead process is replaced. */
  async run(max: number, isEnough: () => Promise<boolean>): Promise<InjectedFaults> {
    for (let count = 0; count < max; count += 1) {
      await pause(this.random.between(200, 1_800));
      const fault = this.random.pick(FAULTS);
      const force = this.random.next();
      if (await isEnough()) break;
      this.start(fault, force);
    }
    await Promise.all(this.inProgress);
    return { strikes: this.strikes, diary: this.diary, resumedLeads: this.resumedLeads };
  }

  /** `force`, from 0 to 1, selects the worker and the duration. */
  private start(fault: Fault, force: number): void {
    const [kind = ''] = fault.split(' ');
    const target = fault === 'worker killed' ? fault : kind;
    if (this.faulty.has(target)) return;
    this.faulty.add(target);
    this.strikes[fault] = (this.strikes[fault] ?? 0) + 1;
    this.note(fault);
    this.inProgress.push(this.inject(fault, force).finally(() => this.faulty.delete(target)));
  }

  private note(text: string): void {
    this.diary.push(`${((Date.now() - this.startedAt) / 1_000).toFixed(1)} ${text}`);
  }

  private inject(fault: Fault, force: number): Promise<void> {
    switch (fault) {
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

  /** The worker resumes when other workers have taken over its agents. */
  private async stopWorker(force: number): Promise<void> {
    const worker = this.anyWorker(force);
    if (worker === undefined) return;
    this.stoppedWorker = worker;
    const ms = LEASE_MS * (1.5 + force);
    worker.kill('SIGSTOP');
    await pause(ms);
    worker.kill('SIGCONT');
    this.stoppedWorker = undefined;
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
    this.note('lead resumed');
    lead.kill('SIGCONT');
    this.resumedLeads.push(await lead.ended);
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
    const running = this.swarm.workers.filter((worker) => worker !== this.stoppedWorker);
    return running.length < 2 ? undefined : running[Math.floor(force * running.length)];
  }
}
