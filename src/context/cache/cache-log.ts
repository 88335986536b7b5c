/** What a journal tells of the requests before: enough to explain the next one's miss, also elsewhere. */

import type { Usage } from '../../protocol/model/usage.js';
import type { JournalRecord } from '../../protocol/session/journal.js';

type Broken = JournalRecord & { type: 'prompt.broken' };

/** What was said ahead of a request that does not go on from the one before. */
export interface Declared {
  readonly reason: Broken['reason'] | 'rewind';
  readonly section: string;
}

/** A request that a server has answered, at least in part. */
export interface AnsweredRequest {
  /** Undefined in a journal of a version that did not keep shapes. */
  readonly shape: Readonly<Record<string, string>> | undefined;
  /** What it left in the cache: what it read there and what it wrote. */
  readonly cachedTokens: number;
  /** When it began; null when a copy of the journal has lost it. */
  readonly at: number | null;
}

/** No id of a server is this long; it would be sent back with every request. */
const LONGEST_ID = 256;

export class CacheLog {
  /** How requests look, as it was written down last. */
  shape: Readonly<Record<string, string>> | undefined;
  last: AnsweredRequest | undefined;
  /** Of the last answer. */
  messageId: string | null = null;
  /** Digests of the messages that were sent, in order. */
  readonly sent: string[] = [];
  /** Breaks since the last request that was answered. */
  declared: Declared[] = [];
  private began: number | null = null;
  /** A fork's journal begins with copies, and those carry the time of copying. */
  private copiedUnder: number | null = null;

  /** What another agent has sent counts as this one's: a fork begins with its parent's prompt. */
  takeOver(other: CacheLog): void {
    this.shape = other.shape;
    this.last = other.last;
    this.messageId = other.messageId;
    for (const digest of other.sent) this.sent.push(digest);
  }

  /** `counts` is false for what a rewind took out of the conversation. */
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

/** The server has read the prompt and said what it cost; an attempt that failed at once has not. */
export const isCounted = ({ input, cacheRead, cacheWrite5m, cacheWrite1h }: Usage): boolean =>
  input + cacheRead + cacheWrite5m + cacheWrite1h > 0;

const isId = (id: string | null): id is string =>
  id !== null && id !== '' && id.length <= LONGEST_ID;
