/** Opens the session store that flags and settings choose. Redis code is loaded only if needed. */
import {
  openStateDirectory,
  resolveSkeinHome,
  type StateLayout,
  stateLayout,
} from '../../../config/workspace/state-layout.js';
import { ownerLives, ownerMarker } from '../../../host/process/ownership/owner-marker.js';
import { createRedactor, secretValues } from '../../../policy/redaction/redact.js';
import { systemClock } from '../../../protocol/clock.js';
import { randomIds } from '../../../protocol/ids.js';
import type { Governor } from '../../../protocol/model/governor.js';
import type { SessionStore } from '../../../protocol/session/session-store.js';
import { FileSessionStore } from '../../../store/files/file-session-store.js';
import { MemorySessionStore } from '../../../store/memory/memory-session-store.js';
import type { RunOptions } from './run-options.js';
import {
  chooseStore,
  type StoreChoice,
  type StoreEnvironment,
  type StoreFlags,
} from './store-choice.js';

export interface OpenedStore {
  readonly choice: StoreChoice;
  readonly sessions: SessionStore;
  /** Marker of this process in its leases and in the environment of its child processes. */
  readonly owner: string;
  /** Opens the governor that all processes of an organisation share. Undefined without Redis. */
  readonly governorFor: ((slots: number, organisation: string) => Governor) | undefined;
}

/** Opens the store for a run and creates the state directory. Rejects with UsageError if that fails. */
export const openStore = async (
  host: StoreEnvironment,
  flags: StoreFlags & Pick<RunOptions, 'sessionPersistence'>,
): Promise<OpenedStore> => {
  const choice = chooseStore(host, flags);
  const home = resolveSkeinHome(host);
  return open(host, choice, () =>
    choice.kind === 'memory' ? stateLayout(home) : openStateDirectory(home),
  );
};

/** Opens the store for a command that runs no session. Creates no directory. Rejects with UsageError. */
export const openExistingStore = async (
  host: StoreEnvironment,
  flags: StoreFlags,
): Promise<SessionStore> => {
  const layout = () => stateLayout(resolveSkeinHome(host));
  return (await open(host, chooseStore(host, flags), layout)).sessions;
};

const open = async (
  host: StoreEnvironment,
  choice: StoreChoice,
  layout: () => StateLayout,
): Promise<OpenedStore> => {
  const owner = ownerMarker(randomIds('owner'));
  const shared = { choice, owner, governorFor: undefined };
  if (choice.kind === 'memory') return { ...shared, sessions: new MemorySessionStore(systemClock) };
  const { sessions: root } = layout();
  const redact = createRedactor(secretValues(host.env));
  const lease = { marker: owner, pid: process.pid };
  if (choice.kind === 'embedded') {
    const options = { root, owner: lease, isOwnerAlive: ownerLives, clock: systemClock, redact };
    return { ...shared, sessions: new FileSessionStore(options) };
  }
  const { openRedisStore } = await import('../../../store/redis/sessions/redis-store.js');
  const { sessions, governor } = await openRedisStore({
    url: choice.url,
    leaseMs: choice.leaseMs,
    owner: lease,
    local: { isAlive: ownerLives, onWait: host.notify ?? (() => {}) },
    clock: systemClock,
    redact,
    folder: root,
  });
  return { choice, owner, sessions, governorFor: governor };
};
