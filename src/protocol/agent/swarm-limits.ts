/** Limits on the agents of a swarm. */

/** Zero means none. */
export interface SwarmLimits {
  /** Maximum agents that one run of the lead may spawn, at all depths. */
  readonly maxAgents: number;
  /** Maximum agents that run at once, not counting the lead. Further agents queue. */
  readonly maxConcurrentAgents: number;
  /** Maximum depth of an agent. Children of the lead have depth 1. */
  readonly maxDepth: number;
}
