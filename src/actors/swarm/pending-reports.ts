/**
 * Counts running children that no Task call waits for, per parent. A parent must not end before its count is
 * zero. If the parent has ended, its nearest running ancestor is counted instead.
 */
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { AgentRegistry } from '../tree/agent-registry.js';

type NodeId = Pick<AgentNode, 'id'>;

export class PendingReports {
  private readonly lead: NodeId;
  private readonly registry: AgentRegistry;
  private readonly onChange: (id: string, live: number) => void;
  private readonly counts = new Map<string, number>();
  /** The ancestor for which a child is counted, by child. */
  private readonly countedFor = new Map<string, string>();
  private readonly listeners = new Set<() => void>();

  /** `onChange` is called with the new count of an agent. */
  constructor(lead: NodeId, registry: AgentRegistry, onChange: (id: string, live: number) => void) {
    this.lead = lead;
    this.registry = registry;
    this.onChange = onChange;
  }

  countFor({ id }: NodeId): number {
    return this.counts.get(id) ?? 0;
  }

  /** Calls the listener after each change of a count. Returns a function that removes the listener. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Adds children of an earlier process to the count; `change` may be negative. */
  add({ id }: NodeId, change: number): void {
    const live = this.countFor({ id }) + change;
    if (live > 0) this.counts.set(id, live);
    else this.counts.delete(id);
    this.onChange(id, live);
    for (const listener of [...this.listeners]) listener();
  }

  begin({ id, parent }: Pick<ChildNode, 'id' | 'parent'>): void {
    if (!this.countedFor.has(id)) this.count(id, this.nearest(parent));
  }

  end({ id }: NodeId): void {
    const ancestor = this.countedFor.get(id);
    this.countedFor.delete(id);
    if (ancestor !== undefined) this.add({ id: ancestor }, -1);
  }

  /** Moves the counts of running children back to a resumed parent. */
  reclaim({ id }: NodeId): void {
    for (const { tag } of this.registry.childrenOf(id)) {
      if (!this.countedFor.has(tag.id) || this.countedFor.get(tag.id) === id) continue;
      this.end(tag);
      this.count(tag.id, id);
    }
  }

  private count(id: string, ancestor: string): void {
    this.countedFor.set(id, ancestor);
    this.add({ id: ancestor }, 1);
  }

  private nearest({ id, depth }: AgentNode): string {
    let ancestor = id;
    // Parent ids come from disk and may form a cycle, so the walk is bounded by the depth.
    for (let left = depth; left > 0; left -= 1) {
      const entry = this.registry.get(ancestor);
      if (entry?.child !== undefined) return ancestor;
      ancestor = entry?.tag.parent ?? this.lead.id;
    }
    return ancestor;
  }
}
