/**
 * Puts the blocks of a message together from raw stream events, exactly as they were received.
 * Nothing is repaired: a tool input that is not JSON goes back as `{}` and is reported as it was.
 */
import {
  CACHE_DIAGNOSES,
  type CacheDiagnosis,
  ModelFailure,
  type StreamEvent,
} from '../protocol/model/model.js';
import { NO_USAGE, type Usage } from '../protocol/model/usage.js';
import type { EndedBlock, WireBlock } from '../protocol/model/wire.js';

type Fields = Record<string, unknown>;

interface OpenBlock {
  readonly start: WireBlock;
  /** Pieces of each growing field, joined once at the end. */
  readonly pieces: Map<string, string[]>;
  readonly citations: unknown[];
}

/** Which field of the block each kind of delta makes longer. */
const GROWS: Readonly<Record<string, { field: string; from: string }>> = {
  text_delta: { field: 'text', from: 'text' },
  thinking_delta: { field: 'thinking', from: 'thinking' },
  signature_delta: { field: 'signature', from: 'signature' },
  input_json_delta: { field: 'input', from: 'partial_json' },
  compaction_delta: { field: 'content', from: 'content' },
};

/** No model writes this much in one message; a broken or hostile server may. */
const MAX_LENGTH = 32 * 1024 * 1024;
const MAX_BLOCKS = 10_000;
const TOO_MUCH =
  'The model sent a message of more than 32 MiB, which no model does; check the server.';

export class BlockAssembler {
  messageId: string | null = null;
  model: string | null = null;
  stopReason: string | null = null;
  usage: Usage = NO_USAGE;
  diagnosis: CacheDiagnosis | null = null;
  /** The message has ended as it should. */
  complete = false;
  private readonly open = new Map<number, OpenBlock>();
  private length = 0;
  private blocks = 0;

  /** Returns the block that this event completed, if it did. */
  take(event: StreamEvent): EndedBlock | undefined {
    switch (event.type) {
      case 'content_block_delta':
        this.grow(Number(event.index), event.delta as Fields);
        return undefined;
      case 'content_block_start': {
        const start = event.content_block as WireBlock;
        this.blocks += 1;
        if (this.blocks > MAX_BLOCKS) throw new ModelFailure('rejected', TOO_MUCH);
        this.open.set(Number(event.index), { start, pieces: new Map(), citations: [] });
        return undefined;
      }
      case 'content_block_stop':
        return this.end(Number(event.index));
      case 'message_start': {
        const message = event.message as Fields;
        this.messageId = asName(message.id);
        this.model = asName(message.model);
        this.count(message.usage as Fields | undefined);
        this.diagnosis = diagnosisIn(message.diagnostics);
        return undefined;
      }
      case 'message_delta':
        this.stopReason = asText((event.delta as Fields | undefined)?.stop_reason);
        this.count(event.usage as Fields | undefined);
        return undefined;
      case 'message_stop':
        // A block that is still open would be lost without a word.
        this.complete = this.open.size === 0;
        return undefined;
      default:
        return undefined;
    }
  }

  /** The text that was being written when the stream was cut. */
  unfinishedText(): WireBlock | null {
    for (const { start, pieces } of this.open.values()) {
      if (start.type !== 'text') continue;
      const text = (asText(start.text) ?? '') + (pieces.get('text') ?? []).join('');
      return text.trim() === '' ? null : { type: 'text', text };
    }
    return null;
  }

  private grow(index: number, delta: Fields): void {
    const block = this.open.get(index);
    if (block === undefined) return;
    if (delta.type === 'citations_delta') {
      this.lengthen(JSON.stringify(delta.citation)?.length ?? 0);
      block.citations.push(delta.citation);
      return;
    }
    const growth = GROWS[String(delta.type)];
    if (growth === undefined) return;
    const piece = asText(delta[growth.from]) ?? '';
    this.lengthen(piece.length);
    const pieces = block.pieces.get(growth.field);
    if (pieces === undefined) block.pieces.set(growth.field, [piece]);
    else pieces.push(piece);
  }

  private end(index: number): EndedBlock | undefined {
    const block = this.open.get(index);
    if (block === undefined) return undefined;
    this.open.delete(index);
    const { start, pieces, citations } = block;
    const fields: Fields = { ...start };
    for (const [field, parts] of pieces) {
      if (field !== 'input') fields[field] = (asText(start[field]) ?? '') + parts.join('');
    }
    if (citations.length > 0) fields.citations = citations;
    const input = readInput(start, pieces.get('input'));
    if (input !== undefined) fields.input = input.value;
    // The API refuses text blocks without text when they come back.
    if (start.type === 'text' && (asText(fields.text) ?? '').trim() === '') return undefined;
    const ended = { type: start.type, raw: wellFormed(fields) };
    if (pieces.size === 0) this.lengthen(ended.raw.length);
    if (start.type !== 'tool_use') return ended;
    const call = { id: String(start.id), tool: String(start.name), input: fields.input };
    return input?.malformed === undefined
      ? { call, ...ended }
      : { call: { ...call, malformed: input.malformed }, ...ended };
  }

  private lengthen(by: number): void {
    this.length += by;
    if (this.length > MAX_LENGTH) throw new ModelFailure('rejected', TOO_MUCH);
  }

  /** Counts in a stream are cumulative: later ones replace earlier ones. */
  private count(usage: Fields | undefined): void {
    if (usage === undefined || usage === null) return;
    const written = usage.cache_creation as Fields | null | undefined;
    const total = asCount(usage.cache_creation_input_tokens);
    const hour = asCount(written?.ephemeral_1h_input_tokens);
    const served = usage.server_tool_use as Fields | null | undefined;
    const searches = asCount(served?.web_search_requests) ?? this.usage.webSearches ?? 0;
    this.usage = {
      input: asCount(usage.input_tokens) ?? this.usage.input,
      output: asCount(usage.output_tokens) ?? this.usage.output,
      cacheRead: asCount(usage.cache_read_input_tokens) ?? this.usage.cacheRead,
      cacheWrite1h: hour ?? this.usage.cacheWrite1h,
      cacheWrite5m:
        asCount(written?.ephemeral_5m_input_tokens) ??
        (total === undefined ? this.usage.cacheWrite5m : total - (hour ?? 0)),
      ...(searches > 0 && { webSearches: searches }),
    };
  }
}

/** Half a surrogate pair is no text: servers refuse the whole request that has one. */
const wellFormed = (fields: Fields): string => {
  const raw = JSON.stringify(fields);
  return /\\ud[89a-f]/.test(raw) ? JSON.stringify(mended(fields)) : raw;
};

const mended = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(mended);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key.toWellFormed(), mended(inner)]);
  return Object.fromEntries(entries);
};

const readInput = (
  start: WireBlock,
  pieces: readonly string[] | undefined,
): { value: unknown; malformed?: string } | undefined => {
  if (!('input' in start) && pieces === undefined) return undefined;
  const text = (pieces ?? []).join('');
  if (text.trim() === '') return { value: start.input ?? {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value };
  } catch {
    // Reported below, in the model's own words.
  }
  return { value: {}, malformed: text };
};

/** Null while the server is still comparing, and for anything that is no reason we know. */
const diagnosisIn = (diagnostics: unknown): CacheDiagnosis | null => {
  const reason = (diagnostics as Fields | null | undefined)?.cache_miss_reason;
  const type = (reason as Fields | null | undefined)?.type;
  return CACHE_DIAGNOSES.find((known) => known === type) ?? null;
};

const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);
/** What is longer is no name, and would be kept with every answer. */
const asName = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= 256 ? value : null;
/** No more than can be added up. */
const asCount = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
