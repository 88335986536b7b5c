/** Items of a message that is being streamed, until the journal has it. */

import { asText } from '../../lib/text/as-text.js';
import type { StreamEvent } from '../../protocol/model/model-port.js';
import type { RawJson } from '../../protocol/model/wire-block.js';
import type { FeedItem } from '../../protocol/session/feed.js';
import { blockItem } from './message-items.js';
import { MAX_TEXT_LENGTH, type TranscriptItem } from './transcript-item.js';

interface OpenBlock {
  readonly block: Readonly<Record<string, unknown>>;
  readonly at: number;
  /** Text, thinking, or the partial JSON of an input. */
  text: string;
  isOpen: boolean;
  /** Cached item, made on the first read. */
  item?: TranscriptItem | undefined;
}

export class StreamedItems {
  /** Blocks by index in the message. */
  private blocks = new Map<number, OpenBlock>();
  /** The finished message that is not in the journal yet. */
  private message: RawJson | undefined;
  /** The newest message in the journal. */
  private settled: RawJson | undefined;

  get items(): readonly TranscriptItem[] {
    return [...this.blocks.values()].flatMap((open) => {
      open.item ??= itemOf(open, this.message === undefined);
      return open.item ?? [];
    });
  }

  /** Returns an independent copy. */
  copy(): StreamedItems {
    const copy = new StreamedItems();
    for (const [index, open] of this.blocks) copy.blocks.set(index, { ...open });
    return copy;
  }

  /** Returns true if the items have changed. `now` is in milliseconds since 1970. */
  take(item: FeedItem, now: number): boolean {
    switch (item.type) {
      case 'request.started':
      case 'attempt.discarded':
        return this.clear();
      case 'stream.event':
        return this.takeStreamEvent(item.event, now);
      case 'assistant.message':
        this.message = item.content;
        for (const open of this.blocks.values()) open.item = undefined;
        if (this.settled === item.content) this.clear();
        return true;
      default:
        return false;
    }
  }

  /** Called when the journal has a message, so that it is not shown twice. */
  settle(raw: RawJson): void {
    this.settled = raw;
    if (this.message === raw) this.clear();
  }

  private clear(): boolean {
    const isNew = this.blocks.size > 0;
    this.blocks = new Map();
    this.message = undefined;
    return isNew;
  }

  private takeStreamEvent(event: StreamEvent, now: number): boolean {
    if (typeof event.index !== 'number') return false;
    if (event.type === 'content_block_start') {
      const block = fieldsOf(event.content_block);
      this.blocks.set(event.index, { block, at: now, text: '', isOpen: true });
      return true;
    }
    const open = this.blocks.get(event.index) ?? this.openMidway(event, now);
    if (open === undefined) return false;
    if (event.type === 'content_block_stop') open.isOpen = false;
    else if (event.type === 'content_block_delta') open.text = appendDelta(open.text, event.delta);
    else return false;
    open.item = undefined;
    return true;
  }

  /** Opens a text or thinking block whose start was missed. */
  private openMidway({ type, index, delta }: StreamEvent, now: number): OpenBlock | undefined {
    const kind = (['text', 'thinking'] as const).find((key) => key in fieldsOf(delta));
    if (type !== 'content_block_delta' || typeof index !== 'number' || kind === undefined) {
      return undefined;
    }
    const open = { block: { type: kind, ...MISSED }, at: now, text: '', isOpen: true };
    this.blocks.set(index, open);
    return open;
  }
}

/** Placeholder for text before the first received delta. The journal will have it. */
const MISSED = { text: '…', thinking: '…' };

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const DELTAS = ['text', 'thinking', 'partial_json'] as const;

/** Appends a delta. Keeps only the end of a very long text. */
const appendDelta = (text: string, delta: unknown): string => {
  const fields = fieldsOf(delta);
  const more = DELTAS.map((key) => fields[key]).find((value) => typeof value === 'string');
  const all = more === undefined ? text : `${text}${more}`;
  return all.length > 2 * MAX_TEXT_LENGTH ? `…${all.slice(-MAX_TEXT_LENGTH)}` : all;
};

const itemOf = ({ block, text, at, isOpen }: OpenBlock, isUnfinished: boolean) => {
  const isCall = typeof block.type === 'string' && block.type.endsWith('tool_use');
  const filled = isCall
    ? { ...block, ...(!isOpen && { input: parsed(text) }) }
    : {
        ...block,
        text: `${asText(block.text)}${text}`,
        thinking: `${asText(block.thinking)}${text}`,
      };
  const item = blockItem(filled, at);
  if (item === undefined) return undefined;
  const partial =
    isCall && isOpen ? { text: `${item.text} ${text}`.slice(0, MAX_INPUT_LENGTH) } : {};
  return { ...item, ...partial, ...(isUnfinished && { isUnfinished }) };
};

const MAX_INPUT_LENGTH = 400;

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
};
