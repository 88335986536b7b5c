/** The leader of a swarm as its machine sees it: counts and limits, never agents. */

/** Zero means none. */
export interface SwarmLimits {
  /** Agents that one run of the lead may spawn. */
  readonly maxAgents: number;
  /** Agents at work at once, the lead aside; the rest queue. */
  readonly maxConcurrentAgents: number;
  /** Children of the lead have depth 1. */
  readonly maxDepth: number;
}

export interface LeaderContext {
  readonly limits: SwarmLimits;
  readonly spawned: number;
  /** Places that are taken. */
  readonly live: number;
  readonly waiting: number;
}

export type LeaderEvent =
  | {
      readonly type: 'agent.spawn';
      readonly id: string;
      readonly depth: number;
      /** False for one that is taken up again: it was counted when it began. */
      readonly isNew: boolean;
      /** Its parent waits for it and lends it its place. */
      readonly borrows: boolean;
    }
  /** A place is free again, unless it was lent. */
  | { readonly type: 'agent.stopped'; readonly borrowed: boolean }
  /** It waits for its own, and others may have its place. */
  | { readonly type: 'agent.rested' }
  /** It has its place again, also when all are taken: nobody begins then until one is free. */
  | { readonly type: 'agent.woken' }
  | { readonly type: 'agent.withdraw' }
  | { readonly type: 'run.begin' }
  /** One that a process died in goes on; so many were spawned in it. */
  | { readonly type: 'run.resume'; readonly spawned: number }
  | { readonly type: 'swarm.close' };

/** Too deep, one too many in this run, no agents at all, or too late. */
export type Refusal = 'depth' | 'total' | 'none' | 'over';

/** What the leader tells the nursery, which knows who is who. */
export type SchedulerOrder =
  | { readonly type: 'child.start'; readonly id: string }
  | { readonly type: 'child.queue'; readonly id: string }
  | {
      readonly type: 'child.refuse';
      readonly id: string;
      readonly why: Refusal;
    }
  /** The one that has waited longest may start. */
  | { readonly type: 'child.next' };
