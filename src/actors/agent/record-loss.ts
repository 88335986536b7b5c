/**
 * Journals that the store has lost records of an agent. The agent ends and is not restarted by itself,
 * because it would repeat the calls whose records are lost.
 */
import { CallLedger, type LedgerCall } from '../../context/history/call-ledger.js';
import { stops } from '../../machines/stops.js';
import { LOST_CALL, lossDetail, lossNotice } from '../../prompt/messages/loss-notice.js';
import type { Ids } from '../../protocol/ids.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { OwnedSession } from '../../protocol/session/owned-session.js';
import { RecordsLostError, StorageError } from '../../protocol/skein-error.js';
import { endOpenCalls } from './end-open-calls.js';
import { JournaledState } from './journaled-state.js';

/** Facts about the lost records, as far as a process knows them. */
export interface KnownLoss {
  /** Number of lost records. 0 if it is unknown. */
  readonly lost: number;
  /** Lost calls with effects. */
  readonly calls: readonly LedgerCall[];
}

/**
 * Records the loss and the end of the agent. `journal` has the records that are left. A lead does not
 * end, because a person has resumed it. Throws StorageError.
 */
export const recordLoss = (
  journal: JournaledState,
  letter: string,
  { lost, calls }: KnownLoss,
  who: 'child' | 'lead' = 'child',
): void => {
  const { history } = journal;
  // An agent that had ended was resumed. Its new run gets its own report.
  if (who === 'child' && history.ended?.final === true)
    journal.record({ type: 'run.started', run: history.runs + 1 });
  endOpenCalls(journal, LOST_CALL);
  const notice = { letter, text: lossNotice(lost, calls) };
  journal.record({ type: 'records.lost', lost, calls: [...calls], notice });
  if (who === 'lead') return;
  const { reason, detail } = stops.storageFailed(lossDetail(lost, calls));
  const { turns } = history.currentRun;
  journal.record({ type: 'run.ended', reason, detail, turns, final: true });
};

/** Returns the loss of records that only a copy has. `left` is the number of the last stored record. */
export const copiedLoss = (copied: readonly JournalRecord[], left: number): KnownLoss => {
  const ledger = new CallLedger();
  for (const record of copied) ledger.apply(record);
  const last = copied.reduce((highest, { seq }) => Math.max(highest, seq), left);
  return { lost: last - left, calls: ledger.since(0) };
};

/** Records a loss that the copy of the lead shows, before an agent is resumed. Rejects with StorageError. */
export const recordCopiedLoss = async (
  { losses }: Pick<OwnedSession, 'losses'>,
  agent: string,
  journal: JournaledState,
  ids: Ids,
  who: 'child' | 'lead' = 'child',
): Promise<void> => {
  const copied = (await losses?.recordsOf(agent)) ?? [];
  if (copied.length > 0) recordLoss(journal, ids('letter'), copiedLoss(copied, journal.seq), who);
};

/**
 * Records the loss in the journal of a lead that stops because of it. Never rejects: otherwise the next
 * process finds the loss in the copy.
 */
export const recordLeadLoss = async (
  session: OwnedSession,
  known: JournaledState,
  ids: Ids,
): Promise<void> => {
  const { lead } = session.meta;
  try {
    await known.written();
    return;
  } catch (error) {
    if (!(error instanceof RecordsLostError)) return;
  }
  try {
    await session.closeJournal(lead);
    const log = await session.journal(lead, null);
    const journal = new JournaledState(log, log.past.records);
    const lost = known.acknowledged - journal.seq;
    const calls = known.callsSince(journal.seq);
    recordLoss(journal, ids('letter'), { lost, calls }, 'lead');
    await journal.written();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
};
