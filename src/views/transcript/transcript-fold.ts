/**
 * The transcript of an agent, folded from its journal record by record. However long the journal is, only
 * the end of the transcript is kept: so many pieces, and so many characters in all of them together.
 */
import type { JournalRecord } from '../../protocol/session/journal.js';
import { itemsOfMessage, promptOf, resultOf } from './transcript-blocks.js';
import { shortened, type TranscriptItem } from './transcript-item.js';
import { noteOf } from './transcript-notes.js';

const MOST_ITEMS = 1_000;
const MOST_CHARACTERS = 2_000_000;

export interface TranscriptBounds {
  readonly items: number;
  readonly characters: number;
}

interface Draft {
  /** What it does, in words. */
  readonly text?: string;
  readonly result?: TranscriptItem;
}

export class TranscriptFold {
  private readonly bounds: TranscriptBounds;
  /** Those from `#first` on are kept; those before it are gone with the next tidying up. */
  private all: TranscriptItem[] = [];
  private first = 0;
  /** How many have gone from `#all`. */
  private gone = 0;
  private characters = 0;
  private shown: readonly TranscriptItem[] | undefined;
  /** Where calls stand that have not ended, counted from the very first item. */
  private readonly open = new Map<string, number>();
  /** What is known of calls that run already, though the message that asks for them has not ended. */
  private readonly drafts = new Map<string, Draft>();
  private isStreaming = false;
  private epochs = 0;
  /** The number of the newest entry; undefined before the first. */
  private seq: number | undefined;

  constructor(bounds: TranscriptBounds = { items: MOST_ITEMS, characters: MOST_CHARACTERS }) {
    this.bounds = bounds;
  }

  /** The same array until something is new. */
  get items(): readonly TranscriptItem[] {
    this.shown ??= this.all.slice(this.first);
    return this.shown;
  }

  get left(): number {
    return this.gone + this.first;
  }

  take(record: JournalRecord): void {
    this.noteGap(record);
    switch (record.type) {
      case 'letter.received':
        this.add(promptOf(record));
        break;
      case 'turn.started':
        this.beginTurn(true);
        break;
      case 'turn.failed':
        this.beginTurn(false);
        this.note(record);
        break;
      case 'epoch.began':
        this.beginTurn(false);
        this.epochs += 1;
        if (this.epochs > 1) this.note(record);
        break;
      case 'assistant.received':
        this.addMessage(record);
        break;
      case 'call.started':
        this.describe(record.call, shortened(record.description));
        break;
      case 'call.ended':
        this.endCall(record.call, resultOf(record));
        break;
      default:
        this.note(record);
    }
  }

  /** Entries are numbered one by one: those that are missing were lines that nobody could read. */
  private noteGap({ seq, ts }: JournalRecord): void {
    const missing = seq - (this.seq ?? seq) - 1;
    this.seq = seq;
    if (missing < 1) return;
    const text = `${missing} ${missing === 1 ? 'line' : 'lines'} of its journal could not be read`;
    this.add({ kind: 'note', at: ts, text, isTrouble: true });
  }

  /** Calls of an attempt that came to nothing are void with it. */
  private beginTurn(isStreaming: boolean): void {
    this.isStreaming = isStreaming;
    this.drafts.clear();
  }

  private addMessage(record: JournalRecord & { readonly type: 'assistant.received' }): void {
    const results: TranscriptItem[] = [];
    for (const item of itemsOfMessage(record)) {
      const { text = item.text, result } = this.drafts.get(item.call ?? '') ?? {};
      this.add({ ...item, text });
      if (result !== undefined) results.push(result);
    }
    this.beginTurn(false);
    for (const result of results) this.endCall(result.call ?? '', result);
  }

  /** What a call does is known in words once it starts. */
  private describe(call: string, text: string): void {
    const place = (this.open.get(call) ?? -1) - this.gone;
    const known = place < this.first ? undefined : this.all[place];
    if (known !== undefined) {
      this.all[place] = { ...known, text };
      this.characters += text.length - known.text.length;
      this.shown = undefined;
    } else if (this.isStreaming) this.drafts.set(call, { text });
  }

  private endCall(call: string, result: TranscriptItem): void {
    if (this.isStreaming && !this.open.has(call)) {
      this.drafts.set(call, { ...this.drafts.get(call), result });
      return;
    }
    const place = (this.open.get(call) ?? -1) - this.gone;
    const about = this.all[place]?.text;
    const isNext = place === this.all.length - 1;
    this.open.delete(call);
    this.add(about === undefined || isNext ? result : { ...result, about });
  }

  private note(record: JournalRecord): void {
    const note = noteOf(record);
    if (note !== undefined) this.add({ kind: 'note', at: record.ts, ...note });
  }

  private add(item: TranscriptItem): void {
    if (item.kind === 'call' && item.call !== undefined) {
      this.open.set(item.call, this.gone + this.all.length);
    }
    this.all.push(item);
    this.characters += sizeOf(item);
    this.shown = undefined;
    while (this.isOverfull()) this.drop();
    if (this.first < this.bounds.items) return;
    this.all = this.all.slice(this.first);
    this.gone += this.first;
    this.first = 0;
  }

  private drop(): void {
    const item = this.all[this.first];
    this.first += 1;
    if (item === undefined) return;
    this.characters -= sizeOf(item);
    if (item.kind === 'call') this.open.delete(item.call ?? '');
  }

  private isOverfull(): boolean {
    const many = this.all.length - this.first;
    const { items, characters } = this.bounds;
    return many > items || (many > 1 && this.characters > characters);
  }
}

const sizeOf = ({ text, edits = [] }: TranscriptItem): number =>
  edits.reduce((sum, { before, after }) => sum + before.length + after.length, text.length);
