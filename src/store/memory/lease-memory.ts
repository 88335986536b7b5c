/** Leases of sessions that end with the process. */
import { hostname } from 'node:os';
import type { Lease, LeaseHolder, Leases } from '../../protocol/session/leases.js';
import type { LeaseOwner } from '../files/leases/lease-file.js';
import { refuseIfHeld } from '../shared/lease-refusal.js';
import { checkSessionId } from '../shared/session-meta.js';

interface Held {
  epoch: number;
  owner: LeaseOwner | undefined;
}

export class LeaseMemory implements Leases {
  private readonly held: Map<string, Held>;
  private readonly owner: LeaseOwner;
  private readonly lives: (marker: string) => boolean;

  /** Those who share `held` want the same leases. */
  constructor(held: Map<string, Held>, owner: LeaseOwner, lives: (marker: string) => boolean) {
    this.held = held;
    this.owner = owner;
    this.lives = lives;
  }

  async take(name: string): Promise<Lease> {
    refuseIfHeld(this.holderNow(name));
    const held = { epoch: (this.held.get(name)?.epoch ?? 0) + 1, owner: this.owner };
    this.held.set(name, held);
    const release = async () => {
      if (this.held.get(name) === held) this.held.set(name, { ...held, owner: undefined });
    };
    return { epoch: held.epoch, release };
  }

  async holder(name: string): Promise<LeaseHolder | undefined> {
    return this.holderNow(name);
  }

  private holderNow(name: string): LeaseHolder | undefined {
    const owner = this.held.get(checkSessionId(name))?.owner;
    if (owner === undefined || !this.lives(owner.marker)) return undefined;
    return { pid: owner.pid, host: hostname() };
  }
}
