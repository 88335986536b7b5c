/** How agents are ended from outside: one, with all below it, wherever each is. */
import type { Stop } from '../../protocol/agent/agent.js';
import type { RemoteAgents } from '../remote/remote-agents.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import { type AgentEntry, type AgentRegistry, isPresent } from '../tree/agent-registry.js';
import { ABOVE_STOPPED, endFor } from '../tree/stop-reasons.js';
import { type AgentShutdown, statusAfter } from './agent-shutdown.js';
import type { Supervisor } from './supervisor.js';

export interface AgentStopperDeps {
  readonly lead: AgentNode;
  readonly roster: AgentRegistry;
  readonly remotes: RemoteAgents | undefined;
  readonly farewell: AgentShutdown;
  readonly supervisor: Supervisor;
  readonly isClosed: () => boolean;
  /** Ends one that does nothing now. */
  readonly finish: (entry: AgentEntry, child: ChildNode, stop: Stop) => void;
  /** Begins one where its journal says that it is. Rejects with a SkeinError. */
  readonly revive: (entry: AgentEntry, prepare: (child: ChildNode) => boolean) => Promise<boolean>;
}

export class AgentStopper {
  private readonly deps: AgentStopperDeps;
  /** Whom a person has stopped: whatever ends those below them, they are stopped too. */
  private readonly stopped = new Set<string>();

  constructor(deps: AgentStopperDeps) {
    this.deps = deps;
  }

  /** Ends it and all below it; resolves when nothing of it works any more. */
  async halt(entry: AgentEntry, stop: Stop): Promise<void> {
    const begun = this.deps.supervisor.untilBegun(entry.tag.id);
    if (begun !== undefined) await begun;
    const { child, tag } = entry;
    if (this.deps.isClosed()) return;
    const isFinal = stop.reason === 'stopped';
    const why = !isFinal && this.isStopped(tag.parent) ? ABOVE_STOPPED : stop;
    if (why.reason === 'stopped') this.stopped.add(tag.id);
    const { remotes } = this.deps;
    if (remotes?.has(entry)) return remotes.halt(entry, why, () => this.endUnbegun(entry, why));
    if (!isPresent(entry) || child === undefined) {
      await this.endAbsent(entry, why);
      // Somebody below it may have been let go on.
      await this.haltBelow(tag, why);
      return;
    }
    const over = new Promise<unknown>((resolve) => entry.listeners.add(resolve));
    const isAtRest = child.deps.lingers && child.agent?.state === 'idle';
    if (child.agent !== undefined && !isAtRest) {
      // A teammate would only rest.
      if (child.deps.lingers) entry.halting = why;
      child.agent.interrupt(why, child.deps.lingers);
    } else if (!entry.isEnding) this.deps.finish(entry, child, endFor(entry.status, why));
    await over;
  }

  /** Of one that nobody works on there is only a record to write. */
  private async endUnbegun(entry: AgentEntry, stop: Stop): Promise<void> {
    await this.deps.revive(entry, (child) => {
      this.deps.farewell.record(child, stop);
      return false;
    });
  }

  /** Of a teammate that rests and is not at hand there is only a record to write. */
  private async endAbsent(entry: AgentEntry, why: Stop): Promise<void> {
    if (entry.status !== 'idle') return;
    const stop = endFor(entry.status, why);
    await this.deps.revive(entry, (child) => {
      this.deps.farewell.record(child, stop);
      return false;
    });
    if (entry.child === undefined) entry.status = statusAfter(stop);
  }

  async haltBelow({ id, depth }: Pick<AgentNode, 'id' | 'depth'>, stop: Stop): Promise<void> {
    // What files say of parents may go in circles.
    const below = this.deps.roster.childrenOf(id).filter(({ tag }) => tag.depth > depth);
    await Promise.all(below.map((entry) => this.halt(entry, stop)));
  }

  /** It goes on, so nothing holds that was said before. */
  forget(id: string): void {
    this.stopped.delete(id);
  }

  private isStopped(id: string): boolean {
    const { lead } = this.deps;
    return this.stopped.has(id) || (id === lead.id && lead.agent?.isHeld === true);
  }
}
