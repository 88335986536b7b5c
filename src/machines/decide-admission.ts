/**
 * Admission arithmetic of a swarm: which child agent starts now, which waits for a concurrency slot and
 * which is refused.
 *
 * Pure functions over three counts, so a thousand agents cost as much as one.
 */
import type { SwarmLimits } from '../protocol/agent/swarm-limits.js';

export interface SlotCounts {
  /** Children spawned in the present run of the lead. */
  readonly spawned: number;
  /** Concurrency slots in use. Exceeds the limit after an agent took its slot back. */
  readonly live: number;
  /** Children that wait for a slot. */
  readonly queued: number;
}

export interface AdmissionRequest {
  /** Depth in the tree of agents; children of the lead have depth 1. */
  readonly depth: number;
  /** False for a restarted agent: its spawn was counted before. */
  readonly isNew: boolean;
  /** True if the parent waits for the child and lends its slot. */
  readonly borrowsSlot: boolean;
}

/** Too deep, over the number of agents of a run, no agents allowed at all, or the swarm is closed. */
export type AdmissionRefusal = 'depth' | 'total' | 'none' | 'over';

export type AdmissionDecision = 'start' | 'queue' | { readonly refuse: AdmissionRefusal };

export const NO_SLOTS_USED: SlotCounts = { spawned: 0, live: 0, queued: 0 };

export const decideAdmission = (
  { spawned, live }: SlotCounts,
  { maxDepth, maxAgents, maxConcurrentAgents }: SwarmLimits,
  { depth, isNew, borrowsSlot }: AdmissionRequest,
): AdmissionDecision => {
  if (isNew && depth > maxDepth) return { refuse: 'depth' };
  if (isNew && spawned >= maxAgents) return { refuse: 'total' };
  // A queued child would wait forever, because no slot can ever become free.
  if (maxConcurrentAgents === 0) return { refuse: 'none' };
  return !borrowsSlot && live >= maxConcurrentAgents ? 'queue' : 'start';
};

/** Returns the counts after a child was started or queued. */
export const countAdmission = (
  counts: SlotCounts,
  decision: 'start' | 'queue',
  { isNew, borrowsSlot }: AdmissionRequest,
): SlotCounts => {
  const takesSlot = decision === 'start' && !borrowsSlot;
  return {
    spawned: counts.spawned + (isNew ? 1 : 0),
    live: counts.live + (takesSlot ? 1 : 0),
    queued: counts.queued + (decision === 'queue' ? 1 : 0),
  };
};

export interface ReleasedSlot {
  readonly counts: SlotCounts;
  /** True if the slot passes to the child that has waited longest. */
  readonly startsNext: boolean;
}

/** Returns the counts after a slot became free. A slot over the limit disappears. */
export const releaseSlot = (
  counts: SlotCounts,
  { maxConcurrentAgents }: SwarmLimits,
): ReleasedSlot => {
  const startsNext = counts.queued > 0 && counts.live <= maxConcurrentAgents;
  return startsNext
    ? { startsNext, counts: { ...counts, queued: counts.queued - 1 } }
    : { startsNext, counts: { ...counts, live: counts.live - 1 } };
};
