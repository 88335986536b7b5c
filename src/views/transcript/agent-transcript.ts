/**
 * The transcript of one agent while somebody looks at it. It is read from the journal: message by message,
 * and only when something new was cited. In the process that runs the agent it also has what is being said.
 */
import { SkeinError } from '../../protocol/errors.js';
import type { SwarmEvent } from '../../protocol/session/events.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import type { RecordWatch, SessionStore } from '../../protocol/session/store.js';
import { LiveSpeech } from './live-messages.js';
import { StreamedItems } from './streamed-items.js';
import { TranscriptFold } from './transcript-fold.js';
import type { OpenTranscript, TranscriptItem } from './transcript-item.js';

type Journals = Pick<SessionStore, 'watchRecords'>;

export interface TranscriptOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly onClose?: () => void;
  /** What it has said of a message that is not over. */
  readonly streamed?: StreamedItems;
}

export class AgentTranscript implements OpenTranscript {
  private readonly ownWatch: RecordWatch | undefined;
  private readonly fold = new TranscriptFold();
  private readonly streamed: StreamedItems;
  private readonly listeners = new Set<() => void>();
  private readonly now: () => number;
  private readonly onClose: () => void;
  private trouble: TranscriptItem | undefined;
  /** The newest journal entry that was read. */
  private seen = 0;
  private looking: Promise<void> | undefined;
  private isWanted = false;
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
      this.ownWatch = journals.watchRecords(session, agent);
    } catch (error) {
      this.fail(error);
    }
    void this.look();
  }

  get items(): readonly TranscriptItem[] {
    const streamed = this.streamed.items;
    const trouble = this.trouble === undefined ? [] : [this.trouble];
    if (streamed.length + trouble.length === 0) return this.fold.items;
    return [...this.fold.items, ...streamed, ...trouble];
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

  /** The index cites this entry of its journal. */
  cited(seq: number): void {
    if (seq > this.seen) void this.look();
  }

  /** What the agent says in this process. Anything but a token may be on record by now. */
  hear(item: FeedItem): void {
    if (this.isClosed) return;
    if (this.streamed.take(item, this.now())) this.tell();
    if (item.type !== 'stream.event') void this.look();
  }

  /** Resolves when all that is on record by now has been read. */
  look(): Promise<void> {
    this.isWanted = true;
    this.looking ??= this.read();
    return this.looking;
  }

  private async read(): Promise<void> {
    while (this.isWanted && !this.isClosed) {
      this.isWanted = false;
      try {
        await this.drain();
        this.trouble = undefined;
      } catch (error) {
        this.fail(error);
      }
    }
    // At once: whoever asks from now on starts another reading.
    this.looking = undefined;
  }

  private async drain(): Promise<void> {
    for (;;) {
      const records = (await this.ownWatch?.next()) ?? [];
      if (records.length === 0 || this.isClosed) return;
      for (const record of records) {
        this.fold.take(record);
        if (record.type === 'assistant.received') this.streamed.settle(record.raw);
        this.seen = record.seq;
      }
      this.tell();
      // A long journal is read in pieces: whoever types meanwhile is heard.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** The world's failures are told where the transcript would go on. */
  private fail(error: unknown): void {
    if (!(error instanceof SkeinError)) throw error;
    const text = `It cannot be read further: ${error.message}`;
    this.trouble = { kind: 'note', at: this.now(), text, isTrouble: true };
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

/** Those that somebody holds open, and whoever tells them that there is news. */
export class OpenTranscripts {
  private readonly journals: Journals;
  private readonly speech: LiveSpeech;
  private readonly ownOpen = new Map<string, Set<AgentTranscript>>();

  /** `speech`: of the agents in this process. */
  constructor(journals: Journals, speech = new LiveSpeech()) {
    this.journals = journals;
    this.speech = speech;
  }

  open(session: string, agent: string): OpenTranscript {
    const key = keyOf(session, agent);
    const same = this.ownOpen.get(key) ?? new Set();
    this.ownOpen.set(key, same);
    const transcript = new AgentTranscript(this.journals, session, agent, {
      streamed: this.speech.of(agent),
      onClose: () => {
        same.delete(transcript);
        if (same.size === 0 && this.ownOpen.get(key) === same) this.ownOpen.delete(key);
      },
    });
    same.add(transcript);
    return transcript;
  }

  /** Of any swarms, in any order. */
  heard(events: readonly SwarmEvent[]): void {
    if (this.ownOpen.size === 0) return;
    for (const { swarm, agent, cites } of events) {
      for (const transcript of this.ownOpen.get(keyOf(swarm, agent)) ?? []) {
        transcript.cited(cites.seq);
      }
    }
  }

  /** What the lead of a session in this process says, and what its agents say through it. */
  hear(session: string, lead: string, item: FeedItem): void {
    if (this.ownOpen.size === 0) return;
    const { agent, said } = speakerOf(lead, item);
    for (const transcript of this.ownOpen.get(keyOf(session, agent)) ?? []) transcript.hear(said);
  }
}

/** Whose item it is: what agents say comes through their lead. */
export const speakerOf = (
  lead: string,
  item: FeedItem,
): { readonly agent: string; readonly said: FeedItem } =>
  item.type === 'agent.feed'
    ? { agent: item.agent.id, said: item.item }
    : { agent: lead, said: item };

const keyOf = (session: string, agent: string): string => `${session}\n${agent}`;
