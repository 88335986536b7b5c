/** Watches the time of agents that are at work: each from where it begins to where it rests or ends. */
import type { Clock } from '../../protocol/clock.js';
import type { Agent } from '../agent/agent.js';
import type { ChildNode } from '../tree/agent-node.js';
import { type AgentEntry, type AgentRegistry, isLive } from '../tree/agent-registry.js';
import { AgentTimeouts, type TimeLimits } from './agent-timeouts.js';

export class DutyWatch {
  private readonly clock: Clock;
  private readonly roster: AgentRegistry;
  private readonly watch: AgentTimeouts;
  /** What ends the watch of each. */
  private readonly ends = new Map<string, () => void>();

  constructor(clock: Clock, roster: AgentRegistry, limits: TimeLimits) {
    this.clock = clock;
    this.roster = roster;
    this.watch = new AgentTimeouts(clock, limits);
  }

  /** Once, however often it is said. */
  over(entry: AgentEntry, child: ChildNode, agent: Agent): void {
    if (this.ends.has(child.id)) return;
    const { clock, roster } = this;
    const end = this.watch.watch({
      id: child.id,
      // With what it had worked before its process died, or it crashed.
      worked: () => child.deps.notebook.history.life.workedBy(clock.now()),
      // A stream that says nothing is watched by whoever reads it.
      lastActive: () => (agent.state === 'streaming' ? clock.now() : entry.lastActive),
      isExempt: () =>
        agent.state === 'awaiting-permission' || roster.childrenOf(child.id).some(isLive),
      stop: (stop) => agent.interrupt(stop),
    });
    this.ends.set(child.id, end);
  }

  release({ id }: Pick<ChildNode, 'id'>): void {
    this.ends.get(id)?.();
    this.ends.delete(id);
  }
}
