/** Stops of agents: each reason with the sentence that people read. */
import type { Stop, StopReason } from '../protocol/agent/stop.js';

const stop = (reason: StopReason, detail: string | null = null): Stop => ({ reason, detail });

/** Reasons after which an agent that stays idle ends too, because no further run can succeed. */
const FINAL: readonly StopReason[] = ['budget', 'storage_failed', 'compaction_failed'];

export const stops = {
  FINAL,
  ENDED: stop('end_turn'),
  INTERRUPTED: stop('interrupted'),
  PARENT_STOPPED: stop('stopped', 'The user stopped its parent agent; `skein resume` resumes it.'),
  BY_PERSON: stop('stopped', 'The user stopped it; `skein resume` resumes it.'),
  BY_PARENT: stop('interrupted', 'Its parent agent stopped it.'),
  PARENT_ENDED: stop('interrupted', 'Its parent agent has ended.'),
  /** The agent agreed to a shutdown request. */
  AGREED: stop('end_turn', 'Its parent agent asked it to end, and it agreed.'),
  REFUSED: stop('refusal', 'The model declined to answer this request.'),
  OUT_OF_TURNS: stop('max_turns', 'The run used all its turns; resume it or raise --max-turns.'),
  KEEPS_FAILING: stop(
    'repeated_tool_failure',
    'Every tool call of several turns in a row was refused, although the agent was warned; see their results in the transcript.',
  ),
  CUT_TOO_OFTEN: stop(
    'model_error',
    'The answer was cut at the output limit again and again; raise skein.maxOutputTokens.',
  ),
  PAUSED_TOO_OFTEN: stop(
    'model_error',
    'The model paused its answer again and again without ending it.',
  ),

  /** The stop of an agent that a defect of Skein ended. */
  crashed: (error: unknown): Stop =>
    stop(
      'model_error',
      `The agent failed unexpectedly: ${error instanceof Error ? error.message : String(error)}`,
    ),

  /** The stop of an agent that crashed once more after `restarts` restarts. */
  afterRestarts: ({ reason, detail }: Stop, restarts: number): Stop =>
    restarts === 0
      ? stop(reason, detail)
      : stop(reason, `${detail} It was restarted ${restarts} times; its work is kept.`),

  /** An idle teammate has finished its work, so an interruption cuts nothing off. */
  whileIdle: (requested: Stop): Stop =>
    requested.reason === 'interrupted'
      ? stop('end_turn', 'The run ended while the agent was idle.')
      : requested,

  loop: (rounds: number): Stop =>
    stop(
      'loop',
      `The agent repeated the same calls ${rounds} times with the same results, although it was warned; its work is kept. Tell it what to do instead.`,
    ),
  loopOfMany: (tool: string, agents: number): Stop =>
    stop(
      'loop',
      `The agent repeated a call of ${tool} that had failed in the same way for ${agents} agents; its work is kept.`,
    ),
  denied: (detail: string): Stop => stop('denied', detail),
  storageFailed: (detail: string): Stop => stop('storage_failed', detail),
  compactionFailed: (detail: string): Stop => stop('compaction_failed', detail),
  /** The stop of an agent whose prompt stays too long after all compactions. */
  staysTooLong: (why: string): Stop =>
    stop(
      'compaction_failed',
      `${why} A summary did not help; \`skein rewind\` removes the newest prompt, or start a new session.`,
    ),
  modelError: (detail: string): Stop => stop('model_error', detail),
};
