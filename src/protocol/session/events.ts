/**
 * The event index of a swarm: small facts for viewers, versioned, each citing the journal entry
 * that it was drawn from. No contents: a viewer that wants them reads the journal.
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
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What every event has. The rest of its keys depend on its type and are plain values. */
export const swarmEvent = z
  .object({
    v: z.literal(EVENTS_VERSION),
    /** Counts from 1 in the index of the swarm. */
    seq: z.number().int().positive(),
    ts: z.number(),
    swarm: z.string(),
    agent: z.string(),
    parent: z.string().nullable(),
    type: z.enum(EVENT_TYPES),
    /** The journal entry behind it: its seq in the agent's journal, and the digest of its `raw`. */
    cites: z.object({ seq: z.number().int(), digest: z.string().optional() }),
  })
  .loose();
export type SwarmEvent = z.infer<typeof swarmEvent>;
