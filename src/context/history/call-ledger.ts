/** Call ledger: the newest calls with effects, with the numbers of their records. */
import type { JournalRecord } from '../../protocol/session/journal-record.js';

export interface LedgerCall {
  readonly call: string;
  readonly tool: string;
  readonly description: string;
}

interface Entry extends LedgerCall {
  /** Number of the newest record of the call. */
  last: number;
}

/** Maximum remembered calls, and maximum length of a description. */
const MAX_CALLS = 1_000;
const MAX_DESCRIPTION_LENGTH = 200;

export class CallLedger {
  private readonly calls = new Map<string, Entry>();

  apply(record: JournalRecord): void {
    if (record.type === 'call.ended') {
      const entry = this.calls.get(record.call);
      if (entry !== undefined) entry.last = record.seq;
    }
    if (record.type !== 'call.started' || record.readOnly) return;
    const { call, tool, seq } = record;
    const description = record.description.slice(0, MAX_DESCRIPTION_LENGTH);
    this.calls.set(call, { call, tool, description, last: seq });
    const [oldest] = this.calls.keys();
    if (this.calls.size > MAX_CALLS && oldest !== undefined) this.calls.delete(oldest);
  }

  /** Returns the calls that started or ended after record `seq`, oldest first. */
  since(seq: number): readonly LedgerCall[] {
    return [...this.calls.values()]
      .filter(({ last }) => last > seq)
      .map(({ call, tool, description }) => ({ call, tool, description }));
  }
}
