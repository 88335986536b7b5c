/** Opens the store that is meant. What speaks to Redis is loaded only where Redis is meant. */
import {
  openStateDirectory,
  resolveSkeinHome,
  type StateLayout,
  stateLayout,
} from '../../../config/workspace/state-directory.js';
import { ownerLives, ownerMarker } from '../../../host/process/ownership/owner-marker.js';
import { keysIn, redactorOf } from '../../../policy/redaction/redaction.js';
import { systemClock } from '../../../protocol/clock.js';
import { randomIds } from '../../../protocol/ids.js';
import type { Governor } from '../../../protocol/model/governor.js';
import type { SessionStore } from '../../../protocol/session/store.js';
import { FileSessionStore } from '../../../store/files/file-session-store.js';
import { MemorySessionStore } from '../../../store/memory/memory-session-store.js';
import type { RunOptions } from './run-options.js';
import { chooseStore, type StoreChoice, type StoreFlags, type StorePlace } from './store-choice.js';

export interface OpenedStore {
  readonly choice: StoreChoice;
  readonly sessions: SessionStore;
  /** The marker of this process, by which its leases and children are known. */
  readonly owner: string;
  /** One for all processes that send for an organisation; undefined where each has its own. */
  readonly governorFor: ((places: number, organisation: string) => Governor) | undefined;
}

/** For a run: makes the state directory. Rejects with a UsageError when the store cannot be used. */
export const openStore = async (
  machine: StorePlace,
  flags: StoreFlags & Pick<RunOptions, 'sessionPersistence'>,
): Promise<OpenedStore> => {
  const choice = chooseStore(machine, flags);
  const home = resolveSkeinHome(machine);
  return open(machine, choice, () =>
    choice.kind === 'memory' ? stateLayout(home) : openStateDirectory(home),
  );
};

/** For those who look at sessions without running one: makes no directory, and leaves no trace. */
export const openArchive = async (
  machine: StorePlace,
  flags: StoreFlags,
): Promise<SessionStore> => {
  const layout = () => stateLayout(resolveSkeinHome(machine));
  return (await open(machine, chooseStore(machine, flags), layout)).sessions;
};

const open = async (
  machine: StorePlace,
  choice: StoreChoice,
  layout: () => StateLayout,
): Promise<OpenedStore> => {
  const owner = ownerMarker(randomIds('owner'));
  const shared = { choice, owner, governorFor: undefined };
  if (choice.kind === 'memory') return { ...shared, sessions: new MemorySessionStore(systemClock) };
  const { sessions: root } = layout();
  const redact = redactorOf(keysIn(machine.env));
  const lease = { marker: owner, pid: process.pid };
  if (choice.kind === 'embedded') {
    const options = { root, owner: lease, ownerLives, clock: systemClock, redact };
    return { ...shared, sessions: new FileSessionStore(options) };
  }
  const { openRedisStore } = await import('../../../store/redis/sessions/redis-store.js');
  const { sessions, governor } = await openRedisStore({
    url: choice.url,
    leaseMs: choice.leaseMs,
    owner: lease,
    clock: systemClock,
    redact,
    folder: root,
  });
  return { choice, owner, sessions, governorFor: governor };
};
