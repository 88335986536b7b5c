/** Leases of sessions in Redis: that of a session is its lead's scope. */
import type { Lease, LeaseHolder, Leases } from '../../../protocol/session/leases.js';
import { checkSessionId } from '../../shared/session-meta.js';
import type { RedisConnections } from '../connection/redis-connections.js';
import { swarmKeys } from '../connection/redis-keys.js';
import { holderIn, LEAD, type WriteScopes } from './write-scopes.js';

export class RedisLeases implements Leases {
  private readonly broker: RedisConnections;
  private readonly keeper: WriteScopes;

  constructor(broker: RedisConnections, keeper: WriteScopes) {
    this.broker = broker;
    this.keeper = keeper;
  }

  async take(name: string): Promise<Lease> {
    return this.keeper.take(checkSessionId(name));
  }

  async holder(name: string): Promise<LeaseHolder | undefined> {
    const { lease } = swarmKeys(checkSessionId(name));
    return holderIn(await this.broker.call('GET', lease(LEAD)));
  }
}
