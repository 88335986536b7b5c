/** What a model is saying right now, token by token, until the journal has it. Only in the process that hears it. */

import type { StreamEvent } from '../../protocol/model/model.js';
import type { RawJson } from '../../protocol/model/wire.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { itemOfBlock } from './transcript-blocks.js';
import { LONGEST_TEXT, type TranscriptItem } from './transcript-item.js';

interface OpenBlock {
  readonly block: Readonly<Record<string, unknown>>;
  readonly at: number;
  /** Words, thoughts, or the JSON of an input as far as it has come. */
  text: string;
  isOpen: boolean;
  /** Made when somebody looks. */
  item?: TranscriptItem | undefined;
}

export class StreamedItems {
  /** By their place in the message. */
  private blocks = new Map<number, OpenBlock>();
  /** The message that is over and not on record here yet, or the last one that is. */
  private message: RawJson | undefined;
  private settled: RawJson | undefined;

  get items(): readonly TranscriptItem[] {
    return [...this.blocks.values()].flatMap((open) => {
      open.item ??= itemOf(open, this.message === undefined);
      return open.item ?? [];
    });
  }

  /** The same so far; each goes on by itself. */
  copy(): StreamedItems {
    const other = new StreamedItems();
    for (const [index, open] of this.blocks) other.blocks.set(index, { ...open });
    return other;
  }

  /** Whether that changed anything. `now` is in milliseconds since 1970. */
  take(item: FeedItem, now: number): boolean {
    switch (item.type) {
      case 'request.started':
      case 'attempt.discarded':
        return this.forget();
      case 'stream.event':
        return this.hear(item.event, now);
      case 'assistant.message':
        this.message = item.content;
        for (const open of this.blocks.values()) open.item = undefined;
        if (this.settled === item.content) this.forget();
        return true;
      default:
        return false;
    }
  }

  /** The journal has the message: what was streamed of it is not shown twice. */
  settle(raw: RawJson): void {
    this.settled = raw;
    if (this.message === raw) this.forget();
  }

  private forget(): boolean {
    const isNew = this.blocks.size > 0;
    this.blocks = new Map();
    this.message = undefined;
    return isNew;
  }

  private hear(event: StreamEvent, now: number): boolean {
    if (typeof event.index !== 'number') return false;
    if (event.type === 'content_block_start') {
      const block = fieldsOf(event.content_block);
      this.blocks.set(event.index, { block, at: now, text: '', isOpen: true });
      return true;
    }
    const open = this.blocks.get(event.index) ?? this.joined(event, now);
    if (open === undefined) return false;
    if (event.type === 'content_block_stop') open.isOpen = false;
    else if (event.type === 'content_block_delta') open.text = grown(open.text, event.delta);
    else return false;
    open.item = undefined;
    return true;
  }

  /** A block of words that had begun before. */
  private joined({ type, index, delta }: StreamEvent, now: number): OpenBlock | undefined {
    const kind = (['text', 'thinking'] as const).find((key) => key in fieldsOf(delta));
    if (type !== 'content_block_delta' || typeof index !== 'number' || kind === undefined) {
      return undefined;
    }
    const open = { block: { type: kind, ...MISSED }, at: now, text: '', isOpen: true };
    this.blocks.set(index, open);
    return open;
  }
}

/** What was said before somebody began to listen is not known here; the journal will have it. */
const MISSED = { text: '…', thinking: '…' };

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const DELTAS = ['text', 'thinking', 'partial_json'] as const;

/** Of what has no end only the end is kept. */
const grown = (text: string, delta: unknown): string => {
  const fields = fieldsOf(delta);
  const more = DELTAS.map((key) => fields[key]).find((value) => typeof value === 'string');
  const all = more === undefined ? text : `${text}${more}`;
  return all.length > 2 * LONGEST_TEXT ? `…${all.slice(-LONGEST_TEXT)}` : all;
};

const itemOf = ({ block, text, at, isOpen }: OpenBlock, isUnfinished: boolean) => {
  const isCall = typeof block.type === 'string' && block.type.endsWith('tool_use');
  const filled = isCall
    ? { ...block, ...(!isOpen && { input: parsed(text) }) }
    : { ...block, text: `${said(block.text)}${text}`, thinking: `${said(block.thinking)}${text}` };
  const item = itemOfBlock(filled, at);
  if (item === undefined) return undefined;
  const soFar = isCall && isOpen ? { text: `${item.text} ${text}`.slice(0, LONGEST_INPUT) } : {};
  return { ...item, ...soFar, ...(isUnfinished && { isUnfinished }) };
};

const LONGEST_INPUT = 400;

const said = (value: unknown): string => (typeof value === 'string' ? value : '');

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
};
