/** Formats why a run stopped early, and the next step for the person. */
import type { StopReason } from '../../protocol/agent/stop.js';

/** `why` may be empty. `willContinue`: another run starts at once. */
export const formatStop = (reason: StopReason, why: string, willContinue: boolean): string => {
  const next = willContinue ? CONTINUES : (NEXT[reason] ?? '');
  const sentences = [STOPPED[reason] ?? `Stopped: ${reason}.`, why, next];
  return sentences.filter((sentence) => sentence !== '').join(' ');
};

const STOPPED: Readonly<Partial<Record<StopReason, string>>> = {
  interrupted: 'Interrupted.',
  denied: 'Stopped.',
  max_turns: 'Stopped at the turn limit.',
  budget: 'Stopped at the budget limit.',
  time_limit: 'Stopped at the time limit.',
  stopped: 'Stopped by a person.',
  compaction_failed: 'Stopped: the conversation no longer fits the context window.',
  repeated_tool_failure: 'Stopped: tool calls kept failing.',
  loop: 'Stopped: the agent kept repeating the same calls.',
  refusal: 'The model refused to answer.',
  model_error: 'Stopped: the model could not be reached or answered with an error.',
  storage_failed: 'Stopped: the session can no longer be written.',
};

/** Next steps, for reasons without a next step in their own text. */
const NEXT: Readonly<Partial<Record<StopReason, string>>> = {
  interrupted: 'Say what to do instead, or /exit.',
  max_turns: 'Here you can also type "continue" for as many turns again.',
  model_error: 'Your prompt is kept: type "continue" to retry.',
};

/** Passive, because agents may have sent the messages, and not the person. */
const CONTINUES = 'The agent continues with the messages that were sent meanwhile.';
