/** Limits that the agent machine enforces on one agent. */

export interface AgentLimits {
  /** Maximum turns in one run. Null: unlimited. Zero: no turn at all. */
  readonly maxTurns: number | null;
  /** Maximum retries of one turn after transient failures. */
  readonly maxRetries: number;
  /** Consecutive overload errors before the agent switches to its fallback model, if it has a fallback. */
  readonly overloadsBeforeFallback: number;
  /** Maximum consecutive continuations after the output limit. */
  readonly maxContinuations: number;
  /** Maximum consecutive pauses of a long server-side turn. */
  readonly maxPauses: number;
  /** Maximum compaction attempts for one prompt that is too long. */
  readonly maxCompactions: number;
  /** Maximum calls of one message that run. Further calls are refused. */
  readonly maxCallsPerMessage: number;
  /** Consecutive turns in which every call was refused after which the model is warned. */
  readonly refusedTurnsBeforeWarning: number;
  /** Consecutive turns in which every call was refused after which the agent is stopped. */
  readonly maxRefusedTurns: number;
  /** Maximum times that a review may send a run back. After that the run ends anyway. */
  readonly maxSentBack: number;
  /** Turns of a run with the same denial after which the agent is stopped. */
  readonly maxSameDenials: number;
  /** Turns of a run with any denial after which the agent is stopped. */
  readonly maxDeniedTurns: number;
  /** Consecutive rounds of the same calls with the same results after which the model is warned. */
  readonly roundsBeforeWarning: number;
  /** Consecutive rounds of the same calls with the same results after which the agent is stopped. */
  readonly maxRounds: number;
}

export const DEFAULT_LIMITS: AgentLimits = {
  maxTurns: null,
  maxRetries: 10,
  overloadsBeforeFallback: 3,
  maxContinuations: 3,
  maxPauses: 20,
  maxCompactions: 3,
  maxCallsPerMessage: 200,
  refusedTurnsBeforeWarning: 5,
  maxRefusedTurns: 15,
  maxSentBack: 8,
  maxSameDenials: 3,
  maxDeniedTurns: 20,
  roundsBeforeWarning: 3,
  maxRounds: 10,
};
