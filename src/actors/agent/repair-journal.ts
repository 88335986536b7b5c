/** Repairs the state of an agent whose journal has lost records, so that its conversation can go on. */
import { damagedJournalNotice } from '../../prompt/messages/damaged-journal-notice.js';
import type { Ids } from '../../protocol/ids.js';
import type { JournalContents } from '../../protocol/session/journal.js';
import { LOST_RESULT } from '../calls/tool-result.js';
import { endOpenCalls } from './end-open-calls.js';
import type { JournaledState } from './journaled-state.js';

/** Maximum number of sentences in the record. All sentences are shown to people. */
const MAX_RECORDED_SENTENCES = 20;

/**
 * Records the repair, and ends the open calls as interrupted: their start may have been lost, so they
 * must not run again. Returns the sentences for people. Throws StorageError.
 */
export const repairJournal = (
  journal: JournaledState,
  { lost = [], damage }: Omit<JournalContents, 'records'>,
  ids: Ids,
  path: string,
  isLost = lost.length > 0,
): readonly string[] => {
  const sentences = isLost ? damage : [...damage, `${path}: its messages do not fit together`];
  endOpenCalls(journal, LOST_RESULT);
  journal.record({
    type: 'journal.repaired',
    lost,
    damage: sentences.slice(0, MAX_RECORDED_SENTENCES),
    notice: { letter: ids('letter'), text: damagedJournalNotice },
  });
  return sentences;
};
