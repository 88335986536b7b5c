/**
 * Assembles the blocks of a message from raw stream events, exactly as received.
 * Malformed tool input is not repaired: the block holds `{}`, and the call quotes the raw text.
 */
import {
  CACHE_DIAGNOSES,
  type CacheDiagnosis,
  ModelFailure,
  type StreamEvent,
} from '../protocol/model/model-port.js';
import { NO_USAGE, type Usage } from '../protocol/model/usage.js';
import type { EndedBlock, WireBlock } from '../protocol/model/wire-block.js';

type Fields = Record<string, unknown>;

interface OpenBlock {
  readonly start: WireBlock;
  /** Pieces of each streamed field, joined once at the end of the block. */
  readonly pieces: Map<string, string[]>;
  readonly citations: unknown[];
}

/** Block field that each kind of delta extends, and the delta field that holds the piece. */
const DELTA_FIELDS: Readonly<Record<string, { field: string; from: string }>> = {
  text_delta: { field: 'text', from: 'text' },
  thinking_delta: { field: 'thinking', from: 'thinking' },
  signature_delta: { field: 'signature', from: 'signature' },
  input_json_delta: { field: 'input', from: 'partial_json' },
  compaction_delta: { field: 'content', from: 'content' },
};

/** Maximum characters of a message. Only a broken or hostile server sends more. */
const MAX_MESSAGE_LENGTH = 32 * 1024 * 1024;
const MAX_BLOCKS = 10_000;
const MESSAGE_TOO_LONG =
  'The model sent a message of more than 32 MiB, which no model does; check the server.';

export class BlockAssembler {
  messageId: string | null = null;
  model: string | null = null;
  stopReason: string | null = null;
  usage: Usage = NO_USAGE;
  diagnosis: CacheDiagnosis | null = null;
  /** True after `message_stop` with no block open. */
  complete = false;
  private readonly open = new Map<number, OpenBlock>();
  private length = 0;
  private blocks = 0;

  /**
   * Returns the block that this event completed, otherwise undefined. Throws a ModelFailure of kind `rejected` if
   * the message exceeds its limits.
   */
  take(event: StreamEvent): EndedBlock | undefined {
    switch (event.type) {
      case 'content_block_delta':
        this.append(Number(event.index), event.delta as Fields);
        return undefined;
      case 'content_block_start': {
        const start = event.content_block as WireBlock;
        this.blocks += 1;
        if (this.blocks > MAX_BLOCKS) throw new ModelFailure('rejected', MESSAGE_TOO_LONG);
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
        // With a block still open the message is incomplete, because the block would be lost silently.
        this.complete = this.open.size === 0;
        return undefined;
      default:
        return undefined;
    }
  }

  /** Returns the text block that was open when the stream was cut, or null if it was blank. */
  unfinishedText(): WireBlock | null {
    for (const { start, pieces } of this.open.values()) {
      if (start.type !== 'text') continue;
      const text = (asText(start.text) ?? '') + (pieces.get('text') ?? []).join('');
      return text.trim() === '' ? null : { type: 'text', text };
    }
    return null;
  }

  private append(index: number, delta: Fields): void {
    const block = this.open.get(index);
    if (block === undefined) return;
    if (delta.type === 'citations_delta') {
      this.addLength(JSON.stringify(delta.citation)?.length ?? 0);
      block.citations.push(delta.citation);
      return;
    }
    const target = DELTA_FIELDS[String(delta.type)];
    if (target === undefined) return;
    const piece = asText(delta[target.from]) ?? '';
    this.addLength(piece.length);
    const pieces = block.pieces.get(target.field);
    if (pieces === undefined) block.pieces.set(target.field, [piece]);
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
    // A blank text block is dropped, because the API rejects it in the next request.
    if (start.type === 'text' && (asText(fields.text) ?? '').trim() === '') return undefined;
    const ended = { type: start.type, raw: wellFormed(fields) };
    if (pieces.size === 0) this.addLength(ended.raw.length);
    if (start.type !== 'tool_use') return ended;
    const call = { id: String(start.id), tool: String(start.name), input: fields.input };
    return input?.malformed === undefined
      ? { call, ...ended }
      : { call: { ...call, malformed: input.malformed }, ...ended };
  }

  private addLength(count: number): void {
    this.length += count;
    if (this.length > MAX_MESSAGE_LENGTH) throw new ModelFailure('rejected', MESSAGE_TOO_LONG);
  }

  /** Replaces earlier counts, because counts in a stream are cumulative. */
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

/** Serialises the fields without lone surrogates, because servers reject a request that contains them. */
const wellFormed = (fields: Fields): string => {
  const raw = JSON.stringify(fields);
  return /\\ud[89a-f]/.test(raw) ? JSON.stringify(withoutLoneSurrogates(fields)) : raw;
};

const withoutLoneSurrogates = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(withoutLoneSurrogates);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key.toWellFormed(),
    withoutLoneSurrogates(inner),
  ]);
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
    // Reported below with the raw text.
  }
  return { value: {}, malformed: text };
};

/** Returns null while the server is still comparing, and for an unknown reason. */
const diagnosisIn = (diagnostics: unknown): CacheDiagnosis | null => {
  const reason = (diagnostics as Fields | null | undefined)?.cache_miss_reason;
  const type = (reason as Fields | null | undefined)?.type;
  return CACHE_DIAGNOSES.find((diagnosis) => diagnosis === type) ?? null;
};

const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Maximum characters of a message id or a model name, both of which are stored with every answer. */
const MAX_NAME_LENGTH = 256;

const asName = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= MAX_NAME_LENGTH ? value : null;

/** Returns undefined unless the value is a safe integer, because counts are added up. */
const asCount = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
