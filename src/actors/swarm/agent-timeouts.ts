/**
 * Ends sub-agents that take too long, or do nothing for too long. One coarse timer looks at all of
 * them, however many there are; it runs only while somebody is watched, and keeps no process alive.
 */
import type { Stop } from '../../protocol/agent/agent.js';
import type { Clock } from '../../protocol/clock.js';

export interface TimeLimits {
  /** Of work in one run, from the moment it has a place; a run that a process died in goes on. */
  readonly wallMs: number;
  /** Without a sign of life. */
  readonly idleMs: number;
}

export interface WatchedAgent {
  readonly id: string;
  /** Milliseconds that it has been at work. */
  worked(): number;
  /** When it last did something, or had something done. */
  lastActive(): number;
  /** It waits for a person or for an agent of its own: that is nothing it can be blamed for. */
  isExempt(): boolean;
  stop(stop: Stop): void;
}

/** A limit is kept to about a twentieth of it. */
const LOOKS_PER_LIMIT = 20;
const SHORTEST_PAUSE = 50;
const LONGEST_PAUSE = 5_000;

export class AgentTimeouts {
  private readonly clock: Clock;
  private readonly limits: TimeLimits;
  private readonly pauseMs: number;
  /** With the moment from which its silence counts, if it was exempt. */
  private readonly agents = new Map<WatchedAgent, number>();
  private forget: (() => void) | undefined;

  constructor(clock: Clock, limits: TimeLimits) {
    this.clock = clock;
    this.limits = limits;
    const shortest = Math.min(limits.wallMs, limits.idleMs) / LOOKS_PER_LIMIT;
    this.pauseMs = Math.min(LONGEST_PAUSE, Math.max(SHORTEST_PAUSE, shortest));
  }

  /** Returns what ends the watch; one that was stopped is watched no more. */
  watch(agent: WatchedAgent): () => void {
    this.agents.set(agent, this.clock.now());
    if (this.forget === undefined) this.sleep();
    return () => this.release(agent);
  }

  private release(agent: WatchedAgent): void {
    this.agents.delete(agent);
    if (this.agents.size > 0) return;
    this.forget?.();
    this.forget = undefined;
  }

  private sleep(): void {
    const wake = () => {
      this.forget = undefined;
      this.look();
      if (this.agents.size > 0 && this.forget === undefined) this.sleep();
    };
    this.forget = this.clock.wakeAt(this.clock.now() + this.pauseMs, wake, true);
  }

  private look(): void {
    const now = this.clock.now();
    for (const [agent, since] of this.agents) {
      const isExempt = agent.isExempt();
      if (isExempt) this.agents.set(agent, now);
      const stop = this.judge(agent, isExempt ? now : since, now);
      if (stop === null) continue;
      this.release(agent);
      agent.stop(stop);
    }
  }

  private judge(agent: WatchedAgent, since: number, now: number): Stop | null {
    const { wallMs, idleMs } = this.limits;
    if (agent.worked() >= wallMs) return overTime('worked', wallMs, 'agentWallTimeoutMs');
    const silentFor = now - Math.max(since, agent.lastActive());
    return silentFor < idleMs ? null : overTime('did nothing', idleMs, 'agentIdleTimeoutMs');
  }
}

const overTime = (what: string, ms: number, setting: string): Stop => ({
  reason: 'time_limit',
  detail: `The agent ${what} for ${inWords(ms)}, which is the limit; what it did is kept. Resume it, or raise skein.${setting}.`,
});

const inWords = (ms: number): string => {
  const [amount, unit] =
    ms >= 60_000 ? [Math.round(ms / 6_000) / 10, 'minute'] : [ms / 1_000, 'second'];
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
};
