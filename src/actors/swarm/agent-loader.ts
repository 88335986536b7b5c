/** Agents of a swarm as their journals have them: to go on with, or only to look at. */
import type { AgentTag } from '../../protocol/agent/swarm.js';
import type { Remotes } from '../remote/remote-agents.js';
import { type Active, readJournal, rebuildChild } from '../spawn/build-child.js';
import type { Child, Member } from '../tree/agent-node.js';
import { type Account, accountOf } from '../tree/agent-record.js';
import type { Entry, Roster } from '../tree/agent-registry.js';
import type { Household } from '../tree/swarm-context.js';

export interface RebuildingDeps {
  readonly house: Household;
  readonly lead: Member;
  readonly roster: Roster;
  readonly active: Active;
  readonly remotes: () => Remotes | undefined;
}

export class Rebuilding {
  private readonly deps: RebuildingDeps;

  constructor(deps: RebuildingDeps) {
    this.deps = deps;
  }

  /** Undefined while its task is not on record. Rejects with a StorageError. */
  async rebuild({ tag }: Entry, open?: typeof readJournal): Promise<Child | undefined> {
    const { house, active } = this.deps;
    return rebuildChild(house, tag.id, await this.parentOf(tag), active, open);
  }

  /** One that another process may work on is only read. */
  look(entry: Entry): Promise<Child | undefined> {
    return this.rebuild(entry, this.deps.remotes()?.has(entry) ? readJournal : undefined);
  }

  /** Nothing is written, and nothing is held for it. Rejects with a StorageError. */
  readOnly({ tag }: Entry): Promise<Account | undefined> {
    return accountOf(this.deps.house, tag.id);
  }

  /** It was only looked at. */
  async putAway({ id, hooks, deps }: Child): Promise<void> {
    hooks.close();
    deps.grant.close();
    await this.deps.house.session.closeJournal(id);
  }

  /** One that has ended is only read: what its children may do depends on what it may. */
  private async parentOf({ parent: id, depth }: AgentTag): Promise<Member> {
    const { lead, roster } = this.deps;
    const entry = roster.get(id);
    const live = id === lead.id ? lead : entry?.child;
    // What files say of parents may go in circles.
    const isAbove = entry !== undefined && entry.tag.depth < depth;
    return live ?? (isAbove ? await this.rebuild(entry, readJournal) : undefined) ?? lead;
  }
}
