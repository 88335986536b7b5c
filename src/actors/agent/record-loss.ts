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
 * Records the loss in the journal of an agent that has stopped because of it, with the knowledge of this
 * process. `known` is the state of the agent. Resolves with the state of the new journal, or with
 * undefined if no record is known to be lost. Never rejects: otherwise the next process finds the loss in
 * the copy.
 */
export const recordKnownLoss = async (
  session: Pick<OwnedSession, 'journal' | 'closeJournal'>,
  { agent, parent }: { readonly agent: string; readonly parent: string | null },
  known: JournaledState,
  ids: Ids,
): Promise<JournaledState | undefined> => {
  if (!(await hasLostRecords(known))) return undefined;
  try {
    await session.closeJournal(agent);
    const log = await session.journal(agent, parent);
    const journal = new JournaledState(log, log.past.records);
    const lost = known.acknowledged - journal.seq;
    const calls = known.callsSince(journal.seq);
    // The lead reports a child whose journal has lost its beginning.
    const isChild = parent !== null;
    if (isChild && journal.history.relations.origin === null) return undefined;
    recordLoss(journal, ids('letter'), { lost, calls }, isChild ? 'child' : 'lead');
    await journal.written();
    return journal;
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return undefined;
  } finally {
    await session.closeJournal(agent).catch(() => {});
  }
};

/** True if the store has refused records behind a gap. Does not wait for a store that is away. */
const hasLostRecords = async (known: JournaledState): Promise<boolean> => {
  const refusal = known.written()?.then(
    () => undefined,
    (error: unknown) => error,
  );
  const now = new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([refusal, now])) instanceof RecordsLostError;
};
