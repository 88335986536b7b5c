/** All keys of a swarm, of whatever kind, and taking them away. */
import { UsageError } from '../../protocol/errors.js';
import type { Broker, Connection } from './broker.js';
import { SWARMS, swarmKeys } from './redis-keys.js';
import { holderIn, type Scope } from './scope-keeper.js';

/** So many keys are looked at in one step. */
const PIECE = 1_000;

/** Looks at all keys that Redis has; some may be told twice. */
export async function* keysOf(broker: Broker, swarm: string): AsyncGenerator<string, void> {
  const pattern = `${swarmKeys(swarm).prefix}*`;
  for (const node of nodesOf(broker.connection('commands'))) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', PIECE);
      yield* keys;
      cursor = next;
    } while (cursor !== '0');
  }
}

/** Rejects with a UsageError when somebody works on one of its agents. */
export const removeSwarm = async (broker: Broker, lead: Scope): Promise<number> => {
  const keys = swarmKeys(lead.swarm);
  for (const scope of (await broker.call('HKEYS', keys.scopes)) as string[]) {
    const holder = scope === lead.name ? undefined : await broker.call('GET', keys.lease(scope));
    const at = holderIn(holder);
    if (at === undefined) continue;
    await lead.release();
    throw new UsageError(
      `Agent ${scope} of session ${lead.swarm} is at work on ${at.host} (pid ${at.pid}); stop it first.`,
    );
  }
  // Until the end it is there for one who has to remove it again.
  const last = [keys.meta, keys.scopes, keys.epoch, keys.lease(lead.name)];
  let bytes = 0;
  for await (const key of keysOf(broker, lead.swarm)) {
    bytes += Number((await broker.call('MEMORY', 'USAGE', key)) ?? 0);
    if (!last.includes(key)) await broker.call('UNLINK', key);
  }
  await broker.call('ZREM', SWARMS, lead.swarm);
  await broker.call('UNLINK', ...last);
  await lead.release();
  return bytes;
};

const nodesOf = (connection: Connection) =>
  'nodes' in connection ? connection.nodes('master') : [connection];
