/** Edit leases of the agents in this process, kept in memory. */
import type { EditLeaseHolder, EditLeaseStore } from '../../protocol/session/edit-lease-store.js';

export class EditLeaseMemory implements EditLeaseStore {
  private readonly holders = new Map<string, EditLeaseHolder>();
  private readonly byAgent = new Map<string, Set<string>>();

  async holder(path: string): Promise<EditLeaseHolder | undefined> {
    return this.holders.get(path);
  }

  async take(
    path: string,
    requested: EditLeaseHolder,
    yielding: readonly string[],
  ): Promise<EditLeaseHolder> {
    const current = this.holders.get(path);
    if (current !== undefined) {
      if (current.agent === requested.agent || !yielding.includes(current.agent)) return current;
      this.drop(path, current.agent);
    }
    this.holders.set(path, requested);
    const paths = this.byAgent.get(requested.agent) ?? new Set();
    this.byAgent.set(requested.agent, paths.add(path));
    return requested;
  }

  async release(path: string, agent: string): Promise<void> {
    this.drop(path, agent);
  }

  async releaseAll(agent: string): Promise<void> {
    for (const path of this.byAgent.get(agent) ?? []) this.drop(path, agent);
  }

  private drop(path: string, agent: string): void {
    if (this.holders.get(path)?.agent !== agent) return;
    this.holders.delete(path);
    const paths = this.byAgent.get(agent);
    paths?.delete(path);
    if (paths?.size === 0) this.byAgent.delete(agent);
  }
}
