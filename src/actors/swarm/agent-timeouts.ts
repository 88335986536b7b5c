/**
 * Stops sub-agents after too much work time or too much idle time.
 *
 * One coarse timer checks all agents. The timer runs only while an agent is watched, and does not keep the
 * process alive.
 */
import type { Stop } from '../../protocol/agent/stop.js';
import type { Clock } from '../../protocol/clock.js';
import type { ChildNode } from '../tree/agent-node.js';
import { type AgentEntry, type AgentRegistry, isLive } from '../tree/agent-registry.js';

export interface TimeLimits {
  /** Maximum work time of a run, counted while the agent has a slot, also across a crash of the process. */
  readonly wallMs: number;
  /** Maximum time without activity. */
  readonly idleMs: number;
}

export interface WatchedAgent {
  readonly id: string;
  /** Work time in milliseconds. */
  worked(): number;
  /** Time of the last activity. */
  lastActive(): number;
  /** True while the agent waits for a person or for its own children: idle time does not count then. */
  isExempt(): boolean;
  stop(stop: Stop): void;
}

/** Checks per limit, so a limit is exceeded by at most a twentieth. */
const CHECKS_PER_LIMIT = 20;
const MIN_INTERVAL_MS = 50;
const MAX_INTERVAL_MS = 5_000;

export class AgentTimeouts {
  private readonly clock: Clock;
  private readonly limits: TimeLimits;
  private readonly intervalMs: number;
  /** Time from which the idle time of an agent counts: the last check at which it was exempt. */
  private readonly agents = new Map<WatchedAgent, number>();
  private cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, limits: TimeLimits) {
    this.clock = clock;
    this.limits = limits;
    const shortest = Math.min(limits.wallMs, limits.idleMs) / CHECKS_PER_LIMIT;
    this.intervalMs = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, shortest));
  }

  /** Returns a function that ends the watch. A stopped agent is no longer watched. */
  watch(agent: WatchedAgent): () => void {
    this.agents.set(agent, this.clock.now());
    if (this.cancelTimer === undefined) this.schedule();
    return () => this.release(agent);
  }

  private release(agent: WatchedAgent): void {
    this.agents.delete(agent);
    if (this.agents.size > 0) return;
    this.cancelTimer?.();
    this.cancelTimer = undefined;
  }

  private schedule(): void {
    const check = () => {
      this.cancelTimer = undefined;
      this.checkAll();
      if (this.agents.size > 0 && this.cancelTimer === undefined) this.schedule();
    };
    this.cancelTimer = this.clock.wakeAt(this.clock.now() + this.intervalMs, check, false);
  }

  private checkAll(): void {
    const now = this.clock.now();
    for (const [agent, since] of this.agents) {
      const isExempt = agent.isExempt();
      if (isExempt) this.agents.set(agent, now);
      const stop = this.stopFor(agent, isExempt ? now : since, now);
      if (stop === null) continue;
      this.release(agent);
      agent.stop(stop);
    }
  }

  private stopFor(agent: WatchedAgent, since: number, now: number): Stop | null {
    const { wallMs, idleMs } = this.limits;
    if (agent.worked() >= wallMs) return timeLimitStop('worked', wallMs, 'agentWallTimeoutMs');
    const idleFor = now - Math.max(since, agent.lastActive());
    return idleFor < idleMs ? null : timeLimitStop('was inactive', idleMs, 'agentIdleTimeoutMs');
  }
}

/** Starts and ends the timeouts of child agents: from the start of their work until they wait or end. */
export class ChildTimeouts {
  private readonly clock: Clock;
  private readonly registry: AgentRegistry;
  private readonly timeouts: AgentTimeouts;
  /** Ends the watch of a child, by id. */
  private readonly ends = new Map<string, () => void>();

  constructor(clock: Clock, registry: AgentRegistry, limits: TimeLimits) {
    this.clock = clock;
    this.registry = registry;
    this.timeouts = new AgentTimeouts(clock, limits);
  }

  /** Idempotent. */
  start(entry: AgentEntry, child: ChildNode): void {
    const { agent } = child;
    if (agent === undefined || this.ends.has(child.id)) return;
    const { clock, registry } = this;
    const end = this.timeouts.watch({
      id: child.id,
      // Includes the work before a crash of the agent or of its process.
      worked: () => child.deps.journal.history.clock.workedMsAt(clock.now()),
      // The reader of a stream has a timeout of its own.
      lastActive: () => (agent.state === 'streaming' ? clock.now() : entry.lastActive),
      isExempt: () =>
        agent.state === 'awaiting-permission' || registry.childrenOf(child.id).some(isLive),
      stop: (stop) => agent.interrupt(stop),
    });
    this.ends.set(child.id, end);
  }

  /** Idempotent. */
  stop(id: string): void {
    this.ends.get(id)?.();
    this.ends.delete(id);
  }

  stopAll(): void {
    for (const id of [...this.ends.keys()]) this.stop(id);
  }
}

const timeLimitStop = (activity: string, ms: number, setting: string): Stop => ({
  reason: 'time_limit',
  detail: `The agent ${activity} for ${durationText(ms)}, which is the limit; its work so far is kept. Resume it, or raise skein.${setting}.`,
});

const durationText = (ms: number): string => {
  const [amount, unit] =
    ms >= 60_000 ? [Math.round(ms / 6_000) / 10, 'minute'] : [ms / 1_000, 'second'];
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
};
