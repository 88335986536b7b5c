/** One session in a listing: what is known of it, and what its events say of its state. */
import { SkeinError } from '../../protocol/errors.js';
import type { EventType } from '../../protocol/session/events.js';
import type { SessionMeta } from '../../protocol/session/store.js';
import { ForkedPrefixFilter } from '../../views/cost/forked-prefix-filter.js';
import { CostLedger } from '../../views/cost/session-cost.js';
import type { SwarmSource } from '../../views/swarm/cached-job-list.js';
import { isWorkedOn } from '../control/remote-commands.js';

/**
 * `running` means a live lease, of its lead or of a worker. `lost` means that its owner went away in the
 * middle of a run, which can be resumed. Everything else has `ended`.
 */
export type SessionState = 'running' | 'lost' | 'ended' | 'unreadable';

export interface SessionSummary {
  readonly id: string;
  readonly state: SessionState;
  /** Of the lead's process, while it runs. */
  readonly pid: number | null;
  readonly host: string | null;
  readonly cwd: string;
  readonly model: string;
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly lastActiveAt: number;
  /** Of its own, as its cost is: those before a fork are of the other session. */
  readonly turns: number;
  readonly costUsd: number | null;
  readonly forkedFrom: string | null;
}

/** What may follow a run without being part of one. */
const OUTSIDE: ReadonlySet<EventType> = new Set([
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

export const summarise = async (store: SwarmSource, meta: SessionMeta): Promise<SessionSummary> => {
  const ledger = new CostLedger();
  const holder = await store.holder(meta.id);
  const isLive = holder !== undefined || (await isWorkedOn(store, meta.id));
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
      else if (!OUTSIDE.has(event.type)) isInRun = true;
    }
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    isReadable = false;
  }
  const { id, cwd, model, title, createdAt, parentId } = meta;
  const ended = isInRun ? 'lost' : 'ended';
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
    lastActiveAt,
    turns,
    costUsd: isReadable ? ledger.report().total.costUsd : null,
    forkedFrom: parentId,
  };
};
