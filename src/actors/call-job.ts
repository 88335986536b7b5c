/** One call that the crew takes care of, from the moment the model wants it until its result is written. */
import type { WantedCall } from '../protocol/wire.js';
import type { CallPlace } from './call-records.js';
import type { SoundCall } from './judge.js';

export interface CallJob {
  readonly wanted: WantedCall;
  readonly at: CallPlace;
  /** Ends what is under way for it: hooks, a question, the tool. */
  controller: AbortController;
  call: SoundCall | undefined;
  /** Of its input; known once it has started. */
  digest: string | undefined;
  /** Somebody who may has allowed this very call: a person, or a hook in their place. */
  answered: 'no' | 'by hook' | 'by person';
  stage: 'ruling' | 'running' | 'reported';
  /** It was ruled upon in this very moment. */
  isFresh: boolean;
  /** What hooks want the model to read with the result. */
  readonly context: string[];
  /** Its result is journaled, or nobody wants it any more. */
  over: boolean;
}

export const callJob = (wanted: WantedCall, at: CallPlace): CallJob => ({
  wanted,
  at,
  controller: new AbortController(),
  call: undefined,
  digest: undefined,
  answered: 'no',
  stage: 'ruling',
  isFresh: false,
  context: [],
  over: false,
});
