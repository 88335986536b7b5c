/** Stops an agent with its subtree: agents of this process, agents on workers, and agents that no process runs. */
import type { ChildEvent } from '../../machines/child-event.js';
import type { Stop } from '../../protocol/agent/stop.js';
import type { RemoteAgents } from '../remote/remote-agents.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import { type AgentEntry, type AgentRegistry, isPresent, lifeOf } from '../tree/agent-registry.js';
import type { AgentRestarter } from './agent-restarter.js';
import type { AgentScheduler } from './agent-scheduler.js';
import type { AgentShutdown } from './agent-shutdown.js';

export interface AgentStopperDeps {
  readonly lead: AgentNode;
  readonly registry: AgentRegistry;
  readonly scheduler: AgentScheduler;
  readonly restarter: AgentRestarter;
  readonly shutdown: Pick<AgentShutdown, 'recordEnd'>;
  readonly remote: RemoteAgents | undefined;
  /** Sends an event to the life of the child. */
  readonly send: (entry: AgentEntry, event: ChildEvent) => void;
  /** Rebuilds the agent from its journal and starts it if `prepare` returns true. Rejects with SkeinError. */
  readonly restart: (entry: AgentEntry, prepare: (child: ChildNode) => boolean) => Promise<boolean>;
}

export class AgentStopper {
  private readonly deps: AgentStopperDeps;

  constructor(deps: AgentStopperDeps) {
    this.deps = deps;
  }

  /** Stops the agent and its subtree. Resolves when none of them runs. */
  async stopTree(entry: AgentEntry, requested: Stop): Promise<void> {
    const { scheduler, restarter, remote } = this.deps;
    const { tag } = entry;
    // A child that is being rebuilt cannot be found.
    const rebuild = restarter.rebuildOf(tag.id);
    if (rebuild !== undefined) await rebuild;
    const supervision = scheduler.superviseStop(tag.id, requested, this.isStopped(tag.parent));
    if (supervision?.type !== 'stopSubtree') return;
    const { stop } = supervision.params;
    if (remote?.has(entry)) {
      await remote.stop(entry, stop, () => this.recordStop(entry, stop));
      return;
    }
    if (!isPresent(entry) || entry.child === undefined) {
      if (entry.status === 'idle') await this.recordStop(entry, stop);
      // A descendant may have been resumed after its parent ended.
      await this.stopDescendants(tag, stop);
      return;
    }
    const ended = new Promise<unknown>((resolve) => entry.listeners.add(resolve));
    this.deps.send(entry, { type: 'child.stop', stop });
    await ended;
  }

  async stopDescendants({ id, depth }: Pick<AgentNode, 'id' | 'depth'>, stop: Stop): Promise<void> {
    // Parent ids come from disk and may form a cycle, so only deeper agents count as children.
    const below = this.deps.registry.childrenOf(id).filter(({ tag }) => tag.depth > depth);
    await Promise.all(below.map((entry) => this.stopTree(entry, stop)));
  }

  /** Journals the stop of an agent that no process runs. */
  private async recordStop(entry: AgentEntry, requested: Stop): Promise<void> {
    const life = lifeOf(entry, entry.tag.kind === 'teammate');
    const [stop = requested] = life
      .send({ type: 'child.stop', stop: requested })
      .flatMap((effect) => (effect.type === 'recordEnd' ? [effect.params.stop] : []));
    await this.deps.restart(entry, (child) => {
      this.deps.shutdown.recordEnd(child, stop);
      return false;
    });
    if (entry.child !== undefined || entry.status !== 'idle') return;
    life.send({ type: 'shutdown.ended', stop });
    entry.status = life.context.status;
  }

  /** True if a person stopped the agent. Descendants of such an agent are stopped, however they end. */
  private isStopped(id: string): boolean {
    const { lead, registry } = this.deps;
    if (id === lead.id) return lead.agent?.isHeld === true;
    const entry = registry.get(id);
    return entry?.status === 'stopped' || entry?.life?.context.stop?.reason === 'stopped';
  }
}
