/** Why a run of an agent ended. */

export const STOP_REASONS = [
  'end_turn',
  'max_turns',
  'budget',
  /** The wall-time or idle-time limit was reached. */
  'time_limit',
  'interrupted',
  /** A person stopped this agent. Only a person can resume it. */
  'stopped',
  'denied',
  'compaction_failed',
  'repeated_tool_failure',
  /** The agent repeated the same calls after a warning. */
  'loop',
  'refusal',
  'model_error',
  'storage_failed',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export interface Stop {
  readonly reason: StopReason;
  /** One sentence for people, or null if the reason needs no explanation. */
  readonly detail: string | null;
}
