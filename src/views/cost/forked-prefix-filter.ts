/** Finds the end of a forked session's copied prefix, which the other session paid for. */
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';

export class ForkedPrefixFilter {
  private isOpen = false;

  /** True for the event that ends the prefix. All totals before it belong to the other session. */
  endsWith({ type, forkedFrom, epoch }: SwarmEvent): boolean {
    if (type === 'agent.spawned') this.isOpen ||= forkedFrom !== undefined;
    // The copy is written under the first epoch, the session's own records under later epochs.
    if (!this.isOpen || type !== 'epoch.began' || !(Number(epoch) > 1)) return false;
    this.isOpen = false;
    return true;
  }
}
