/**
 * Cache log: facts about earlier requests, folded from a journal, that explain a later cache miss.
 */

import type { Usage } from '../../protocol/model/usage.js';
import type { JournalRecord } from '../../protocol/session/journal-record.js';

type Broken = JournalRecord & { type: 'prompt.broken' };

/** Announcement that the next request does not extend the previous request. */
interface DeclaredBreak {
  readonly reason: Broken['reason'] | 'rewind';
  readonly section: string;
}

/** A request that a server has answered at least in part. */
export interface AnsweredRequest {
  /** Undefined if the journal's version recorded no shapes. */
  readonly shape: Readonly<Record<string, string>> | undefined;
  /** Tokens in the cache after the request: read and written. */
  readonly cachedTokens: number;
  /** Start time in milliseconds since 1970; null in a copied journal. */
  readonly at: number | null;
}

/** Longer message ids are ignored, because every later request would repeat them. */
const MAX_ID_LENGTH = 256;

export class CacheLog {
  /** Last recorded request shape. */
  shape: Readonly<Record<string, string>> | undefined;
  last: AnsweredRequest | undefined;
  /** Message id of the last answer. */
  messageId: string | null = null;
  /** Digests of the sent messages, in order. */
  readonly sent: string[] = [];
  /** Breaks declared since the last answered request. */
  declared: DeclaredBreak[] = [];
  private began: number | null = null;
  /** Epoch of the copied records in a fork's journal, because their times are copy times. */
  private copiedUnder: number | null = null;

  /** Copies the log of a fork's parent, because the fork starts with its parent's prompt. */
  copyFrom(other: CacheLog): void {
    this.shape = other.shape;
    this.last = other.last;
    this.messageId = other.messageId;
    for (const digest of other.sent) this.sent.push(digest);
  }

  /** `counts` is false for a record that a rewind removed from the conversation. */
  apply(record: JournalRecord, counts = true): void {
    switch (record.type) {
      case 'agent.created':
        this.copiedUnder = record.forkedFrom === undefined ? null : record.epoch;
        break;
      case 'request.shaped':
        this.shape = record.shape;
        break;
      case 'turn.started':
        this.began = record.epoch === this.copiedUnder ? null : record.ts;
        if (record.sent === undefined || !counts) break;
        this.sent.length = Math.min(this.sent.length, record.sent.from);
        for (const digest of record.sent.digests) this.sent.push(digest);
        break;
      case 'assistant.received':
        if (isId(record.messageId)) this.messageId = record.messageId;
        this.answered(record.usage);
        break;
      case 'turn.failed':
        this.answered(record.usage);
        break;
      case 'prompt.broken':
        this.declared.push({ reason: record.reason, section: record.section });
        if (!counts) break;
        if (record.reason === 'clear' || record.dropped !== undefined) this.sent.length = 0;
        break;
      case 'journal.repaired':
        this.declared.push({ reason: 'truncation', section: 'messages lost by damage' });
        if (counts) this.sent.length = 0;
        break;
      case 'session.rewound':
        if (record.conversation) this.declared.push({ reason: 'rewind', section: 'messages' });
        break;
      default:
        break;
    }
  }

  private answered(usage: Usage): void {
    if (!isCounted(usage)) return;
    const cachedTokens = usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;
    this.last = { shape: this.shape, cachedTokens, at: this.began };
    this.declared = [];
  }
}

/** True if the server has read and counted the prompt. False for an attempt that failed at once. */
export const isCounted = ({ input, cacheRead, cacheWrite5m, cacheWrite1h }: Usage): boolean =>
  input + cacheRead + cacheWrite5m + cacheWrite1h > 0;

const isId = (id: string | null): id is string =>
  id !== null && id !== '' && id.length <= MAX_ID_LENGTH;
