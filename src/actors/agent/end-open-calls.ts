/** Ends the calls of an agent whose records are incomplete, so that no call runs a second time. */
import { toolResult } from '../calls/tool-result.js';
import type { JournaledState } from './journaled-state.js';

/**
 * Records every open call as interrupted, with this text as its result. A Task call with a known child
 * stays open, because it rejoins that child. Throws StorageError.
 */
export const endOpenCalls = (journal: JournaledState, text: string): void => {
  const { calls, relations, turns } = journal.history;
  for (const { id, tool, result } of [...calls.values()]) {
    if (result !== null || relations.childByCall.has(id)) continue;
    journal.record({
      type: 'call.ended',
      turn: turns,
      attempt: 1,
      call: id,
      tool,
      outcome: 'interrupted',
      durationMs: 0,
      raw: toolResult(id, text, true),
    });
  }
};
