/** Repairs the state of an agent whose journal has lost records, so that its conversation can go on. */
import { damagedJournalNotice } from '../../prompt/messages/damaged-journal-notice.js';
import type { Ids } from '../../protocol/ids.js';
import type { JournalContents } from '../../protocol/session/journal.js';
import { LOST_RESULT, toolResult } from '../calls/tool-result.js';
import type { JournaledState } from './journaled-state.js';

/** Maximum number of sentences in the record. All sentences are shown to people. */
const MAX_RECORDED_SENTENCES = 20;

/**
 * Records the repair, and ends the open calls as interrupted: their start may have been lost, so they
 * must not run again. A Task call with a known child stays open, because it finds that child. Returns
 * the sentences for people. Throws StorageError.
 */
export const repairJournal = (
  journal: JournaledState,
  { lost = [], damage }: Omit<JournalContents, 'records'>,
  ids: Ids,
  path: string,
  isLost = lost.length > 0,
): readonly string[] => {
  const { history } = journal;
  const sentences = isLost ? damage : [...damage, `${path}: its messages do not fit together`];
  const { calls, relations } = history;
  for (const { id, tool, result } of [...calls.values()]) {
    if (result !== null || relations.childByCall.has(id)) continue;
    journal.record({
      type: 'call.ended',
      turn: history.turns,
      attempt: 1,
      call: id,
      tool,
      outcome: 'interrupted',
      durationMs: 0,
      raw: toolResult(id, LOST_RESULT, true),
    });
  }
  journal.record({
    type: 'journal.repaired',
    lost,
    damage: sentences.slice(0, MAX_RECORDED_SENTENCES),
    notice: { letter: ids('letter'), text: damagedJournalNotice },
  });
  return sentences;
};
