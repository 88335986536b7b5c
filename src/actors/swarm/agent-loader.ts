/** Agents of a swarm as their journals have them: to go on with, or only to look at. */
import type { AgentTag } from '../../protocol/agent/swarm.js';
import type { RemoteAgents } from '../remote/remote-agents.js';
import { type Active, readJournal, rebuildChild } from '../spawn/build-child.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import { type AgentRecord, readAgentRecord } from '../tree/agent-record.js';
import type { AgentEntry, AgentRegistry } from '../tree/agent-registry.js';
import type { SwarmContext } from '../tree/swarm-context.js';

export interface AgentLoaderDeps {
  readonly house: SwarmContext;
  readonly lead: AgentNode;
  readonly roster: AgentRegistry;
  readonly active: Active;
  readonly remotes: () => RemoteAgents | undefined;
}

export class AgentLoader {
  private readonly deps: AgentLoaderDeps;

  constructor(deps: AgentLoaderDeps) {
    this.deps = deps;
  }

  /** Undefined while its task is not on record. Rejects with a StorageError. */
  async rebuild({ tag }: AgentEntry, open?: typeof readJournal): Promise<ChildNode | undefined> {
    const { house, active } = this.deps;
    return rebuildChild(house, tag.id, await this.parentOf(tag), active, open);
  }

  /** One that another process may work on is only read. */
  look(entry: AgentEntry): Promise<ChildNode | undefined> {
    return this.rebuild(entry, this.deps.remotes()?.has(entry) ? readJournal : undefined);
  }

  /** Nothing is written, and nothing is held for it. Rejects with a StorageError. */
  readOnly({ tag }: AgentEntry): Promise<AgentRecord | undefined> {
    return readAgentRecord(this.deps.house, tag.id);
  }

  /** It was only looked at. */
  async putAway({ id, hooks, deps }: ChildNode): Promise<void> {
    hooks.close();
    deps.grant.close();
    await this.deps.house.session.closeJournal(id);
  }

  /** One that has ended is only read: what its children may do depends on what it may. */
  private async parentOf({ parent: id, depth }: AgentTag): Promise<AgentNode> {
    const { lead, roster } = this.deps;
    const entry = roster.get(id);
    const live = id === lead.id ? lead : entry?.child;
    // What files say of parents may go in circles.
    const isAbove = entry !== undefined && entry.tag.depth < depth;
    return live ?? (isAbove ? await this.rebuild(entry, readJournal) : undefined) ?? lead;
  }
}
