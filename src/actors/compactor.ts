/** Fills the slot `compactor`: makes room by dropping the oldest rounds, and declares the break. */
import { type EventObject, fromCallback } from 'xstate';
import { planTruncation, TRUNCATION_NOTICE } from '../context/truncation.js';
import type { AgentEvent, RoomNeeded } from '../protocol/agent.js';
import { StorageError } from '../protocol/errors.js';
import type { Feed } from '../protocol/feed.js';
import type { Notebook } from './notebook.js';

export const compactor = (notebook: Notebook, feed: Feed) =>
  fromCallback<EventObject, RoomNeeded>(({ input, sendBack }) => {
    sendBack(makeRoom(notebook, feed, input));
  });

const NOTHING_TO_DROP =
  'The conversation does not fit the context window, and nothing is left to drop; start a new session with a shorter prompt.';

const makeRoom = (notebook: Notebook, feed: Feed, { gapTokens }: RoomNeeded): AgentEvent => {
  const { history } = notebook;
  const plan = planTruncation(history.messages, gapTokens);
  if (plan === undefined) return { type: 'compaction.failed', detail: NOTHING_TO_DROP };
  const tokensBefore = history.tokens;
  try {
    notebook.record({
      ...{ type: 'prompt.broken', reason: 'truncation', section: 'messages' },
      ...{ dropped: plan.dropped, notice: TRUNCATION_NOTICE },
      ...{ tokensBefore, tokensAfter: Math.max(0, tokensBefore - plan.tokens) },
    });
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return { type: 'storage.failed', detail: error.message };
  }
  const summary = `Dropped to fit the context window: ${plan.dropped} of the oldest messages.`;
  feed.emit({ type: 'context.compacted', summary });
  return { type: 'context.compacted' };
};
