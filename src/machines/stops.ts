/** Why an agent stops, each with the sentence that people read. */
import type { Stop, StopReason } from '../protocol/agent/agent.js';

const stop = (reason: StopReason, detail: string | null = null): Stop => ({ reason, detail });

export const ENDED = stop('end_turn');
export const INTERRUPTED = stop('interrupted');
export const REFUSED = stop('refusal', 'The model declined to answer this request.');
export const OUT_OF_TURNS = stop(
  'max_turns',
  'The run used all its turns; resume it or raise --max-turns.',
);
export const KEEPS_FAILING = stop(
  'repeated_tool_failure',
  'Every tool call of several turns in a row failed; see their results in the transcript.',
);
export const CUT_TOO_OFTEN = stop(
  'model_error',
  'The answer was cut at the output limit again and again; raise skein.maxOutputTokens.',
);
export const PAUSED_TOO_OFTEN = stop(
  'model_error',
  'The model paused its answer again and again without ending it.',
);

export const loop = (rounds: number): Stop =>
  stop(
    'loop',
    `The agent did the same ${rounds} times in a row, with the same results, after it was told so; what it did is kept. Say what it should do instead.`,
  );
export const loopOfMany = (tool: string, agents: number): Stop =>
  stop(
    'loop',
    `The agent kept making a call of ${tool} that had failed for ${agents} agents in the same way; what it did is kept.`,
  );
export const denied = (detail: string): Stop => stop('denied', detail);
export const storageFailed = (detail: string): Stop => stop('storage_failed', detail);
export const compactionFailed = (detail: string): Stop => stop('compaction_failed', detail);
export const modelError = (detail: string): Stop => stop('model_error', detail);

/** After these even a lingering agent has nothing to go on with. */
export const FINAL: readonly StopReason[] = ['budget', 'storage_failed', 'compaction_failed'];
