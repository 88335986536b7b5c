/** Session summary for listings, from the session's metadata and its events. */

import type { SessionMeta } from '../../protocol/session/session-store.js';
import type { EventType } from '../../protocol/session/swarm-event.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { ForkedPrefixFilter } from '../../views/cost/forked-prefix-filter.js';
import { SessionCostFold } from '../../views/cost/session-cost.js';
import type { SwarmReader } from '../../views/swarm/cached-jobs.js';
import { isLiveSession } from '../../views/swarm/live-sessions.js';

/**
 * `running`: the lead or a worker has a live lease. `lost`: the owner died during a run, which can be resumed.
 * `unreadable`: the event index cannot be read. `ended`: all other sessions.
 */
type SessionState = 'running' | 'lost' | 'ended' | 'unreadable';

export interface SessionSummary {
  readonly id: string;
  readonly state: SessionState;
  /** Process id of the lead. Null if it is not running. */
  readonly pid: number | null;
  readonly host: string | null;
  /** Milliseconds until the lease of a lost lead ends. Null if no lost process has a lease. */
  readonly leaseEndsInMs: number | null;
  readonly cwd: string;
  readonly model: string;
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly lastActiveAt: number;
  /** Turns of this session. Turns before a fork belong to the origin, as their cost does. */
  readonly turns: number;
  readonly costUsd: number | null;
  readonly forkedFrom: string | null;
}

/** Events that may come after a run and do not start another. */
const BETWEEN_RUNS: ReadonlySet<EventType> = new Set([
  'agent.spawned' as const,
  'epoch.began' as const,
  'prompt.broken' as const,
  'context.compacted' as const,
  'request.queued' as const,
  'consultation.started' as const,
  'consultation.ended' as const,
  'bound.hit' as const,
  'rewind.began' as const,
  'session.rewound' as const,
]);

export const summarizeSession = async (
  store: SwarmReader,
  meta: SessionMeta,
): Promise<SessionSummary> => {
  const ledger = new SessionCostFold();
  const holder = await store.holder(meta.id);
  const isLost = holder?.leaseEndsInMs !== undefined;
  const isLive = !isLost && (await isLiveSession(store, meta.id));
  const inherited = new ForkedPrefixFilter();
  let turns = 0;
  let lastActiveAt = meta.updatedAt;
  let isInRun = false;
  let isReadable = true;
  try {
    for await (const event of store.events(meta.id)) {
      ledger.take(event);
      lastActiveAt = Math.max(lastActiveAt, event.ts);
      if (inherited.endsWith(event)) turns = 0;
      if (event.type === 'turn.ended') turns += 1;
      if (event.agent !== meta.lead) continue;
      if (event.type === 'run.ended' || event.type === 'agent.stopped') isInRun = false;
      else if (!BETWEEN_RUNS.has(event.type)) isInRun = true;
    }
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    isReadable = false;
  }
  const { id, cwd, model, title, createdAt, parentId } = meta;
  const ended = isInRun || isLost ? 'lost' : 'ended';
  const state = isLive ? 'running' : ended;
  return {
    id,
    state: isReadable ? state : 'unreadable',
    cwd,
    model,
    title,
    createdAt,
    pid: holder?.pid ?? null,
    host: holder?.host ?? null,
    leaseEndsInMs: holder?.leaseEndsInMs ?? null,
    lastActiveAt,
    turns,
    costUsd: isReadable ? ledger.report().total.costUsd : null,
    forkedFrom: parentId,
  };
};
