/** A forked session begins with the records of another one, which did and paid for them. */
import type { SwarmEvent } from '../../protocol/session/events.js';

export class ForkedPrefixFilter {
  private isOpen = false;

  /** True of the event that ends it: what was counted so far is not this session's own. */
  endsWith({ type, forkedFrom, epoch }: SwarmEvent): boolean {
    if (type === 'agent.spawned') this.isOpen ||= forkedFrom !== undefined;
    // A copy is made under the first epoch; what it does itself comes under later ones.
    if (!this.isOpen || type !== 'epoch.began' || !(Number(epoch) > 1)) return false;
    this.isOpen = false;
    return true;
  }
}
