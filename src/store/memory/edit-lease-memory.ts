/** Leases of files for agents that live in one process; they end with it. */
import type { FileHolder, FileLeases } from '../../protocol/session/edit-leases.js';

export class EditLeaseMemory implements FileLeases {
  private readonly holders = new Map<string, FileHolder>();
  private readonly byAgent = new Map<string, Set<string>>();

  async holder(path: string): Promise<FileHolder | undefined> {
    return this.holders.get(path);
  }

  async take(path: string, wanted: FileHolder, givers: readonly string[]): Promise<FileHolder> {
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
