/**
 * Events of a swarm's event index: small, versioned facts for viewers. Each event cites the journal
 * record that it was derived from and holds no contents. A viewer that needs contents reads the
 * journal.
 */
import { z } from 'zod';

export const EVENTS_VERSION = 1;

export const EVENT_TYPES = [
  'agent.spawned',
  'epoch.began',
  'run.started',
  'letter.delivered',
  'message.sent',
  'turn.started',
  'turn.ended',
  'turn.failed',
  'retry.scheduled',
  'consultation.started',
  'consultation.ended',
  'permission.requested',
  'permission.answered',
  'permission.ruled',
  'tool.started',
  'tool.ended',
  'context.compacted',
  'cache.broken',
  'request.shaped',
  'prompt.broken',
  'run.ended',
  'agent.stopped',
  'bound.hit',
  'hook.ran',
  'files.watched',
  'files.changed',
  'rewind.began',
  'journal.repaired',
  'session.rewound',
  'agent.requested',
  'agent.queued',
  'agent.restarted',
  'letter.sent',
  'letter.undelivered',
  'plan.approved',
  'agent.moved',
  'lock.awaited',
  'worktree.settled',
  'fork.offered',
  'request.queued',
  'budget.reserved',
  'records.lost',
  'orders.found',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Common fields of all events. Further keys depend on the type and hold plain values. */
export const swarmEvent = z
  .object({
    v: z.literal(EVENTS_VERSION),
    /** Number in the index of the swarm, starting at 1. */
    seq: z.number().int().positive(),
    ts: z.number(),
    swarm: z.string(),
    agent: z.string(),
    parent: z.string().nullable(),
    type: z.enum(EVENT_TYPES),
    /** Source record: its seq in the agent's journal, and the digest of its `raw`. */
    cites: z.object({ seq: z.number().int(), digest: z.string().optional() }),
  })
  .loose();
export type SwarmEvent = z.infer<typeof swarmEvent>;
