/** How far requests that were answered have left a conversation in the cache. */
import type { JournalRecord } from '../../protocol/session/journal.js';
import type { HistoryMessage } from '../history/history-message.js';

/** The end of a message, or of what other agents begin with too. */
export interface CachedUpTo {
  readonly index: number;
  readonly at: 'end' | 'shared';
}

export class CachedPart {
  /** Null while there is nothing. */
  upTo: CachedUpTo | null = null;
  /** Of the request under way; null where nothing of its newest message is marked. */
  private under: CachedUpTo | null = null;

  apply(record: JournalRecord, messages: readonly HistoryMessage[]): void {
    if (record.type === 'turn.started') {
      const at = record.marked ?? 'end';
      this.under = at === 'nothing' ? null : { index: newestOfUser(messages), at };
    } else if (record.type === 'assistant.received') {
      this.upTo = this.under ?? this.upTo;
    }
  }

  /** A fork sends what its parent has sent. */
  takeOver({ upTo }: CachedPart): void {
    this.upTo = upTo;
  }

  /** Nothing is as it was sent. */
  forget(): void {
    this.upTo = null;
  }
}

const newestOfUser = (messages: readonly HistoryMessage[]): number => {
  let index = messages.length - 1;
  while (messages[index]?.role === 'assistant') index -= 1;
  return index;
};
