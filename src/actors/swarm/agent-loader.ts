/** Loads agents from their journals: to run them, or only to read them. */
import type { AgentTag } from '../../protocol/agent/agent-tag.js';
import { AgentRefusal } from '../../protocol/agent/agents.js';
import type { RemoteAgents } from '../remote/remote-agents.js';
import { type OnActivity, readOnlyJournal, rebuildChild } from '../spawn/build-child.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import { type AgentRecord, readAgentRecord } from '../tree/agent-record.js';
import type { AgentEntry, AgentRegistry } from '../tree/agent-registry.js';
import type { SwarmContext } from '../tree/swarm-context.js';

export interface AgentLoaderDeps {
  readonly context: SwarmContext;
  readonly lead: AgentNode;
  readonly registry: AgentRegistry;
  readonly onActivity: OnActivity;
  readonly remote: () => RemoteAgents | undefined;
}

export class AgentLoader {
  private readonly deps: AgentLoaderDeps;

  constructor(deps: AgentLoaderDeps) {
    this.deps = deps;
  }

  /** Returns undefined if the journal has no task yet. Rejects with StorageError. */
  async rebuild(
    { tag }: AgentEntry,
    open?: typeof readOnlyJournal,
  ): Promise<ChildNode | undefined> {
    const { context, onActivity } = this.deps;
    return rebuildChild(context, tag.id, await this.parentOf(tag), onActivity, open);
  }

  /** Loads an agent to read it. The journal of an agent that another process may run is opened read-only. */
  inspect(entry: AgentEntry): Promise<ChildNode | undefined> {
    return this.rebuild(entry, this.deps.remote()?.has(entry) ? readOnlyJournal : undefined);
  }

  /**
   * Rejects with AgentRefusal if an agent without a task has lost records: it may have worked, and would repeat its
   * effects.
   */
  async refuseLost(id: string, parent: string): Promise<void> {
    const { session } = this.deps.context;
    const { records, lost } = (await session.journal(id, parent)).past;
    if (lost === undefined && records.every(({ type }) => type === 'agent.created')) return;
    await session.closeJournal(id);
    throw new AgentRefusal(lostAgentText(id));
  }

  /** Reads the journal without building a node. Rejects with StorageError. */
  readRecord({ tag }: AgentEntry): Promise<AgentRecord | undefined> {
    return readAgentRecord(this.deps.context, tag.id);
  }

  /** Releases a loaded agent that does not start. */
  async close({ id, hooks, deps }: ChildNode): Promise<void> {
    hooks.close();
    deps.budget.close();
    await this.deps.context.session.closeJournal(id);
  }

  /** Returns the parent node. An ended parent is read from its journal, because its rules bind its children. */
  private async parentOf({ parent: id, depth }: AgentTag): Promise<AgentNode> {
    const { lead, registry } = this.deps;
    const entry = registry.get(id);
    const live = id === lead.id ? lead : entry?.child;
    // Parent ids come from disk and may form a cycle, so a parent must have a smaller depth.
    const isAbove = entry !== undefined && entry.tag.depth < depth;
    return live ?? (isAbove ? await this.rebuild(entry, readOnlyJournal) : undefined) ?? lead;
  }
}

const lostAgentText = (id: string): string =>
  `The agent ${id} of this call has lost its task, because its journal is damaged. It may have done part of its work or all of it: check before you start it again.`;
