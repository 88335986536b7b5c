/** Cached part of a conversation: the last breakpoint of an answered request. */
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { HistoryMessage } from '../history/history-message.js';

/** End of a message, or end of its part that other agents share. */
export interface CachedUpTo {
  readonly index: number;
  readonly at: 'end' | 'shared';
}

export class CachedPart {
  /** Null if no part is cached. */
  upTo: CachedUpTo | null = null;
  /** Breakpoint of the open request; null if its newest message has no breakpoint. */
  private pending: CachedUpTo | null = null;

  apply(record: JournalRecord, messages: readonly HistoryMessage[]): void {
    if (record.type === 'turn.started') {
      const at = record.marked ?? 'end';
      this.pending = at === 'nothing' ? null : { index: newestOfUser(messages), at };
    } else if (record.type === 'assistant.received') {
      this.upTo = this.pending ?? this.upTo;
    }
  }

  /** Copies the state of a fork's parent, because the fork sends the same prefix. */
  copyFrom({ upTo }: CachedPart): void {
    this.upTo = upTo;
  }

  /** Called after a break, because the sent messages have changed. */
  clear(): void {
    this.upTo = null;
  }
}

const newestOfUser = (messages: readonly HistoryMessage[]): number => {
  let index = messages.length - 1;
  while (messages[index]?.role === 'assistant') index -= 1;
  return index;
};
