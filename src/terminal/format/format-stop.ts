/** What a person is told of a run that ended before it was done, and what they can do now. */
import type { StopReason } from '../../protocol/agent/agent.js';

/** `why` may be empty. `goesOn` when another run begins at once. */
export const stopText = (reason: StopReason, why: string, goesOn: boolean): string => {
  const next = goesOn ? GOES_ON : (NEXT[reason] ?? '');
  const sentences = [STOPPED[reason] ?? `Stopped: ${reason}.`, why, next];
  return sentences.filter((sentence) => sentence !== '').join(' ');
};

const STOPPED: Readonly<Partial<Record<StopReason, string>>> = {
  interrupted: 'Interrupted.',
  denied: 'Stopped.',
  max_turns: 'Stopped at the limit of turns.',
  budget: 'Stopped at the budget.',
  time_limit: 'Stopped at the limit of time.',
  stopped: 'Stopped by a person.',
  compaction_failed: 'Stopped: the conversation does not fit any more.',
  repeated_tool_failure: 'Stopped: its calls kept failing.',
  loop: 'Stopped: it did the same again and again.',
  refusal: 'The model refused to answer.',
  model_error: 'Stopped: the model could not be reached or answered with an error.',
  storage_failed: 'Stopped: the session can no longer be written.',
};

/** Where the reason does not say it. */
const NEXT: Readonly<Partial<Record<StopReason, string>>> = {
  interrupted: 'Say what to do instead, or /exit.',
  max_turns: 'Here you can also type "go on" for as many again.',
  model_error: 'What you said is kept: type "go on" to try again.',
};

/** Letters of agents may wait for it too, so it need not be the person who sent something. */
const GOES_ON = 'It goes on with what was sent meanwhile.';
