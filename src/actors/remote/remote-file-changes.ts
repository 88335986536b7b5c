/** What agents have changed that worked elsewhere is kept with the lead, so that a session can be rewound. */
import type { SessionStore } from '../../protocol/session/store.js';
import type { AgentNode } from '../tree/agent-node.js';
import type { AgentRegistry } from '../tree/agent-registry.js';

export class RemoteFileChanges {
  private readonly store: Pick<SessionStore, 'records'>;
  private readonly session: string;
  private readonly roster: AgentRegistry;
  private readonly lead: AgentNode;
  /** By agent: the last record of it that was looked at. */
  private readonly seen = new Map<string, number>();

  constructor(
    store: Pick<SessionStore, 'records'>,
    session: string,
    roster: AgentRegistry,
    lead: AgentNode,
  ) {
    this.store = store;
    this.session = session;
    this.roster = roster;
    this.lead = lead;
  }

  /** Of one that has ended, and of all below it. Nothing is lost by doing it twice. */
  async keep(id: string): Promise<void> {
    if (this.lead.isElsewhere) return;
    const { notebook } = this.lead.deps;
    // What files say of parents may go in circles.
    const all = new Set([id]);
    for (const agent of all) {
      const before = this.seen.get(agent) ?? 0;
      for await (const record of this.store.records(this.session, agent)) {
        if (record.seq <= before) continue;
        this.seen.set(agent, record.seq);
        if (record.type !== 'files.changed') continue;
        const { call, changes } = record;
        notebook.record({ type: 'files.changed', call, changes });
      }
      for (const { tag } of this.roster.childrenOf(agent)) all.add(tag.id);
    }
  }
}
