/**
 * Agents at work that nobody waits for with a call, by who must not end before they do: whoever they work
 * for, or where that one has ended, the nearest above it that is there.
 */
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { AgentRegistry } from '../tree/agent-registry.js';

type Known = Pick<AgentNode, 'id'>;

export class PendingReports {
  private readonly lead: Known;
  private readonly roster: AgentRegistry;
  private readonly changed: (id: string, live: number) => void;
  private readonly counts = new Map<string, number>();
  /** Those that are counted, and for whom. */
  private readonly working = new Map<string, string>();

  /** `changed` is told how many there are now for somebody. */
  constructor(lead: Known, roster: AgentRegistry, changed: (id: string, live: number) => void) {
    this.lead = lead;
    this.roster = roster;
    this.changed = changed;
  }

  expectedBy({ id }: Known): number {
    return this.counts.get(id) ?? 0;
  }

  /** So many more, or fewer, that a former process has left. */
  expect({ id }: Known, more: number): void {
    const live = this.expectedBy({ id }) + more;
    if (live > 0) this.counts.set(id, live);
    else this.counts.delete(id);
    this.changed(id, live);
  }

  begin({ id, parent }: Pick<ChildNode, 'id' | 'parent'>): void {
    if (!this.working.has(id)) this.count(id, this.nearest(parent));
  }

  end({ id }: Known): void {
    const waiting = this.working.get(id);
    this.working.delete(id);
    if (waiting !== undefined) this.expect({ id: waiting }, -1);
  }

  /** One that had ended is there again: those that work for it are its own. */
  gather({ id }: Known): void {
    for (const { tag } of this.roster.childrenOf(id)) {
      if (!this.working.has(tag.id) || this.working.get(tag.id) === id) continue;
      this.end(tag);
      this.count(tag.id, id);
    }
  }

  private count(id: string, waiting: string): void {
    this.working.set(id, waiting);
    this.expect({ id: waiting }, 1);
  }

  private nearest({ id, depth }: AgentNode): string {
    let above = id;
    // What files say of parents may go in circles.
    for (let left = depth; left > 0; left -= 1) {
      const entry = this.roster.get(above);
      if (entry?.child !== undefined) return above;
      above = entry?.tag.parent ?? this.lead.id;
    }
    return above;
  }
}
