/** Streaming port of all model providers. */
import { SkeinError } from '../skein-error.js';
import type { Usage } from './usage.js';
import type { EndedBlock, WireBlock } from './wire-block.js';

export interface ModelPort {
  /**
   * Sends one request and reports each block as it ends. Does not retry. Rejects with ModelFailure on
   * every failure.
   */
  stream(request: ModelRequest, sink: TurnSink, signal: AbortSignal): Promise<TurnEnd>;
}

interface ModelRequest {
  readonly model: string;
  /** The serialised body. The chunks are sent unchanged, one after the other. */
  readonly body: readonly Uint8Array[];
  /** Beta features to enable. */
  readonly betas?: readonly string[];
}

export interface TurnSink {
  /** Called when the response starts, which means that its cache reads are known. */
  started(): void;
  /** Called when a block is complete, in order, before the stream ends. */
  blockEnded(block: EndedBlock): void;
  /** Receives every raw event. Left out if there is no listener. */
  event?(event: StreamEvent): void;
}

/** One server-sent event of the Messages API, parsed and otherwise unchanged. */
export type StreamEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface TurnEnd {
  readonly messageId: string;
  readonly requestId: string | null;
  /** The API's own value: `end_turn`, `tool_use`, `max_tokens`, … */
  readonly stopReason: string;
  readonly usage: Usage;
  readonly model: string;
  /** The server's reason for a cache miss. Null or undefined if it was not asked or does not know. */
  readonly diagnosis?: CacheDiagnosis | null;
}

/** The API's own values. Other values are ignored. */
export const CACHE_DIAGNOSES = [
  'model_changed',
  'system_changed',
  'tools_changed',
  'messages_changed',
  'previous_message_not_found',
  'unavailable',
] as const;
export type CacheDiagnosis = (typeof CACHE_DIAGNOSES)[number];

export type FailureKind =
  | 'rate-limited'
  | 'overloaded'
  | 'server'
  | 'dropped'
  | 'stalled'
  | 'prompt-too-long'
  | 'rejected'
  | 'unauthorised'
  | 'unreachable'
  | 'aborted';

/** Failure of a request. `partial` is the content of an aborted stream. */
export class ModelFailure extends SkeinError {
  readonly code = 'model-failure';
  readonly kind: FailureKind;
  readonly status: number | null;
  /** Delay that the server asked for, in milliseconds. */
  readonly retryAfterMs: number | null;
  readonly partial: PartialTurn | null;
  /** True if the cause hardly passes by itself, such as an unknown host: few retries suffice. */
  readonly isPermanent: boolean;
  constructor(
    kind: FailureKind,
    message: string,
    detail: {
      status?: number | undefined;
      retryAfterMs?: number | undefined;
      partial?: PartialTurn;
      isPermanent?: boolean;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: detail.cause });
    this.kind = kind;
    this.status = detail.status ?? null;
    this.retryAfterMs = detail.retryAfterMs ?? null;
    this.partial = detail.partial ?? null;
    this.isPermanent = detail.isPermanent ?? false;
  }
}

export interface PartialTurn {
  readonly messageId: string | null;
  readonly usage: Usage;
  /** An unfinished text block. Unfinished thinking and tool_use blocks are dropped. */
  readonly unfinishedText: WireBlock | null;
}

/** True if a retry may succeed. */
export const isTransient = (kind: FailureKind): boolean =>
  kind === 'rate-limited' ||
  kind === 'overloaded' ||
  kind === 'server' ||
  kind === 'dropped' ||
  kind === 'stalled' ||
  kind === 'unreachable';
