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
    wanted: EditLeaseHolder,
    givers: readonly string[],
  ): Promise<EditLeaseHolder> {
    const held = this.holders.get(path);
    if (held !== undefined) {
      if (held.agent === wanted.agent || !givers.includes(held.agent)) return held;
      this.drop(path, held.agent);
    }
    this.holders.set(path, wanted);
    const paths = this.byAgent.get(wanted.agent) ?? new Set();
    this.byAgent.set(wanted.agent, paths.add(path));
    return wanted;
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
