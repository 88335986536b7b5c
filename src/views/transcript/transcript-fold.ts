/**
 * Folds the journal of an agent into its transcript. Only the end of a long transcript is kept, bounded
 * by the number of items and of characters.
 */
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import { messageItems, promptItem, resultItem } from './message-items.js';
import { shortened, type TranscriptItem } from './transcript-item.js';
import { transcriptNote } from './transcript-note.js';

const MAX_ITEMS = 1_000;
const MAX_CHARACTERS = 2_000_000;

interface TranscriptBounds {
  readonly items: number;
  readonly characters: number;
}

interface Draft {
  /** Description of the call. */
  readonly text?: string;
  readonly result?: TranscriptItem;
}

export class TranscriptFold {
  private readonly bounds: TranscriptBounds;
  /** Items. Those before index `first` are dropped, and removed from the array later. */
  private all: TranscriptItem[] = [];
  private first = 0;
  /** Number of items removed from `all`. */
  private gone = 0;
  private characters = 0;
  private shown: readonly TranscriptItem[] | undefined;
  /** Position of each open call, counted from the first item ever. */
  private readonly open = new Map<string, number>();
  /** Calls that started before their message ended. */
  private readonly drafts = new Map<string, Draft>();
  private isStreaming = false;
  private epochs = 0;
  /** Number of the newest record. Undefined before the first. */
  private seq: number | undefined;

  constructor(bounds: TranscriptBounds = { items: MAX_ITEMS, characters: MAX_CHARACTERS }) {
    this.bounds = bounds;
  }

  /** Returns the same array until an item changes. */
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
        this.add(promptItem(record));
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
        this.endCall(record.call, resultItem(record));
        break;
      default:
        this.note(record);
    }
  }

  /** Adds a note for missing record numbers, which are unreadable lines. */
  private noteGap({ seq, ts }: JournalRecord): void {
    const missing = seq - (this.seq ?? seq) - 1;
    this.seq = seq;
    if (missing < 1) return;
    const text = `${missing} ${missing === 1 ? 'line' : 'lines'} of the journal could not be read`;
    this.add({ kind: 'note', at: ts, text, isProblem: true });
  }

  /** Drops the calls of a failed attempt. */
  private beginTurn(isStreaming: boolean): void {
    this.isStreaming = isStreaming;
    this.drafts.clear();
  }

  private addMessage(record: JournalRecord & { readonly type: 'assistant.received' }): void {
    const results: TranscriptItem[] = [];
    for (const item of messageItems(record)) {
      const { text = item.text, result } = this.drafts.get(item.call ?? '') ?? {};
      this.add({ ...item, text });
      if (result !== undefined) results.push(result);
    }
    this.beginTurn(false);
    for (const result of results) this.endCall(result.call ?? '', result);
  }

  /** Sets the description, which is known when the call starts. */
  private describe(call: string, text: string): void {
    const index = (this.open.get(call) ?? -1) - this.gone;
    const item = index < this.first ? undefined : this.all[index];
    if (item !== undefined) {
      this.all[index] = { ...item, text };
      this.characters += text.length - item.text.length;
      this.shown = undefined;
    } else if (this.isStreaming) this.drafts.set(call, { text });
  }

  private endCall(call: string, result: TranscriptItem): void {
    if (this.isStreaming && !this.open.has(call)) {
      this.drafts.set(call, { ...this.drafts.get(call), result });
      return;
    }
    const index = (this.open.get(call) ?? -1) - this.gone;
    const callText = this.all[index]?.text;
    const isNext = index === this.all.length - 1;
    this.open.delete(call);
    this.add(callText === undefined || isNext ? result : { ...result, callText });
  }

  private note(record: JournalRecord): void {
    const note = transcriptNote(record);
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
    const count = this.all.length - this.first;
    const { items, characters } = this.bounds;
    return count > items || (count > 1 && this.characters > characters);
  }
}

const sizeOf = ({ text, edits = [] }: TranscriptItem): number =>
  edits.reduce((sum, { before, after }) => sum + before.length + after.length, text.length);
