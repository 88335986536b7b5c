/**
 * Transcript of one agent while a screen shows it. It is read from the journal when the index cites new
 * records. In the process that runs the agent it also contains the message that is being streamed.
 */

import type { FeedItem } from '../../protocol/session/feed.js';
import type { RecordWatch, SessionStore } from '../../protocol/session/session-store.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';
import { SkeinError } from '../../protocol/skein-error.js';
import { LiveMessages } from './live-messages.js';
import { StreamedItems } from './streamed-items.js';
import { TranscriptFold } from './transcript-fold.js';
import type { OpenTranscript, TranscriptItem } from './transcript-item.js';

type Journals = Pick<SessionStore, 'watchRecords'>;

interface TranscriptOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly onClose?: () => void;
  /** Streamed part of the current message. */
  readonly streamed?: StreamedItems;
}

export class AgentTranscript implements OpenTranscript {
  private readonly recordWatch: RecordWatch | undefined;
  private readonly fold = new TranscriptFold();
  private readonly streamed: StreamedItems;
  private readonly listeners = new Set<() => void>();
  private readonly now: () => number;
  private readonly onClose: () => void;
  private problem: TranscriptItem | undefined;
  /** Number of the newest record that was read. */
  private lastSeq = 0;
  private refreshing: Promise<void> | undefined;
  private isRefreshDue = false;
  private isClosed = false;

  constructor(
    journals: Journals,
    session: string,
    agent: string,
    { now = Date.now, onClose = () => {}, streamed }: TranscriptOptions = {},
  ) {
    this.streamed = streamed ?? new StreamedItems();
    this.now = now;
    this.onClose = onClose;
    try {
      this.recordWatch = journals.watchRecords(session, agent);
    } catch (error) {
      this.fail(error);
    }
    void this.refresh();
  }

  get items(): readonly TranscriptItem[] {
    const streamed = this.streamed.items;
    const problems = this.problem === undefined ? [] : [this.problem];
    if (streamed.length + problems.length === 0) return this.fold.items;
    return [...this.fold.items, ...streamed, ...problems];
  }

  get left(): number {
    return this.fold.left;
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.isClosed = true;
    this.listeners.clear();
    this.onClose();
  }

  /** Called when the index cites a record of the journal. */
  cited(seq: number): void {
    if (seq > this.lastSeq) void this.refresh();
  }

  /** Takes a feed item of the agent in this process. Each item except a stream event may have new records. */
  takeFeedItem(item: FeedItem): void {
    if (this.isClosed) return;
    if (this.streamed.take(item, this.now())) this.notify();
    if (item.type !== 'stream.event') void this.refresh();
  }

  /** Resolves when all current records have been read. */
  refresh(): Promise<void> {
    this.isRefreshDue = true;
    this.refreshing ??= this.read();
    return this.refreshing;
  }

  private async read(): Promise<void> {
    while (this.isRefreshDue && !this.isClosed) {
      this.isRefreshDue = false;
      try {
        await this.drain();
        this.problem = undefined;
      } catch (error) {
        this.fail(error);
      }
    }
    // In the same tick as the check above, so that a later call starts a new read.
    this.refreshing = undefined;
  }

  private async drain(): Promise<void> {
    for (;;) {
      const records = (await this.recordWatch?.next()) ?? [];
      if (records.length === 0 || this.isClosed) return;
      for (const record of records) {
        this.fold.take(record);
        if (record.type === 'assistant.received') this.streamed.settle(record.raw);
        this.lastSeq = record.seq;
      }
      this.notify();
      // Yields between batches of a long journal, so that key presses are handled.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Shows a storage failure as the last item. Throws all other errors. */
  private fail(error: unknown): void {
    if (!(error instanceof SkeinError)) throw error;
    const text = `The journal cannot be read further: ${error.message}`;
    this.problem = { kind: 'note', at: this.now(), text, isProblem: true };
    this.notify();
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}

/** All open transcripts, and their notification about new events and feed items. */
export class OpenTranscripts {
  private readonly journals: Journals;
  private readonly liveMessages: LiveMessages;
  private readonly openByAgent = new Map<string, Set<AgentTranscript>>();

  constructor(journals: Journals, liveMessages = new LiveMessages()) {
    this.journals = journals;
    this.liveMessages = liveMessages;
  }

  open(session: string, agent: string): OpenTranscript {
    const key = keyOf(session, agent);
    const same = this.openByAgent.get(key) ?? new Set();
    this.openByAgent.set(key, same);
    const transcript = new AgentTranscript(this.journals, session, agent, {
      streamed: this.liveMessages.copyOf(agent),
      onClose: () => {
        same.delete(transcript);
        if (same.size === 0 && this.openByAgent.get(key) === same) this.openByAgent.delete(key);
      },
    });
    same.add(transcript);
    return transcript;
  }

  /** Takes events of any swarms, in any order. */
  takeEvents(events: readonly SwarmEvent[]): void {
    if (this.openByAgent.size === 0) return;
    for (const { swarm, agent, cites } of events) {
      for (const transcript of this.openByAgent.get(keyOf(swarm, agent)) ?? []) {
        transcript.cited(cites.seq);
      }
    }
  }

  /** Takes a feed item of the lead of a session in this process, which may forward an item of a sub-agent. */
  takeFeedItem(session: string, lead: string, item: FeedItem): void {
    if (this.openByAgent.size === 0) return;
    const { agent, item: own } = feedSpeaker(lead, item);
    for (const transcript of this.openByAgent.get(keyOf(session, agent)) ?? [])
      transcript.takeFeedItem(own);
  }
}

/** Returns the agent that emitted an item of the lead's feed, and the item without the forwarding. */
export const feedSpeaker = (
  lead: string,
  item: FeedItem,
): { readonly agent: string; readonly item: FeedItem } =>
  item.type === 'agent.feed' ? { agent: item.agent.id, item: item.item } : { agent: lead, item };

const keyOf = (session: string, agent: string): string => `${session}\n${agent}`;
