/** Leases of sessions that are kept in memory. */
import { hostname } from 'node:os';
import type { Lease, LeaseHolder, Leases } from '../../protocol/session/leases.js';
import type { LeaseOwner } from '../files/leases/lease-file.js';
import { checkSessionId } from '../shared/check-session-id.js';
import { refuseIfHeld } from '../shared/refuse-if-held.js';

interface HeldLease {
  epoch: number;
  owner: LeaseOwner | undefined;
}

export class LeaseMemory implements Leases {
  private readonly held: Map<string, HeldLease>;
  private readonly owner: LeaseOwner;
  private readonly isAlive: (marker: string) => boolean;

  /** Instances that share `held` compete for the same leases. */
  constructor(
    held: Map<string, HeldLease>,
    owner: LeaseOwner,
    isAlive: (marker: string) => boolean,
  ) {
    this.held = held;
    this.owner = owner;
    this.isAlive = isAlive;
  }

  async take(name: string): Promise<Lease> {
    refuseIfHeld(this.currentHolder(name));
    const held = { epoch: (this.held.get(name)?.epoch ?? 0) + 1, owner: this.owner };
    this.held.set(name, held);
    const release = async () => {
      if (this.held.get(name) === held) this.held.set(name, { ...held, owner: undefined });
    };
    return { epoch: held.epoch, release };
  }

  async holder(name: string): Promise<LeaseHolder | undefined> {
    return this.currentHolder(name);
  }

  private currentHolder(name: string): LeaseHolder | undefined {
    const owner = this.held.get(checkSessionId(name))?.owner;
    if (owner === undefined || !this.isAlive(owner.marker)) return undefined;
    return { pid: owner.pid, host: hostname() };
  }
}
