/** One call that the crew takes care of, from the moment the model wants it until its result is written. */

import type { RawJson, WantedCall } from '../../protocol/model/wire.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { CallOutcome } from '../../protocol/session/journal.js';
import type { Toolbox } from '../../tools/toolbox.js';
import type { ValidCall } from '../permissions/judge-call.js';
import type { CallPlace } from './call-records.js';

export interface PendingCall {
  readonly wanted: WantedCall;
  readonly at: CallPlace;
  /** Ends what is under way for it: hooks, a question, the tool. */
  controller: AbortController;
  call: ValidCall | undefined;
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

export const pendingCall = (wanted: WantedCall, at: CallPlace): PendingCall => ({
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

/** What listeners hear of its end. Of a call that never started nothing else says what it was. */
export const endedItem = (
  { wanted, call }: PendingCall,
  toolbox: Toolbox,
  outcome: CallOutcome,
  raw: RawJson,
): FeedItem => {
  const { id, tool } = wanted;
  const { input } = call ?? wanted;
  const description = call?.tool.describe(call.input) ?? described(wanted, toolbox);
  return { type: 'tool.ended', call: id, tool, input, description, outcome, raw };
};

/** Of one that was given up before it was judged; by its name alone where nobody could run it. */
const described = ({ tool, input }: WantedCall, toolbox: Toolbox): string => {
  if (!toolbox.has(tool)) return tool;
  const found = toolbox.find(tool);
  const { success, data } = found.input.safeParse(input);
  return success ? found.describe(data) : tool;
};
