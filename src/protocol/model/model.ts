/** The one streaming port that every model provider stands behind. */
import { SkeinError } from '../errors.js';
import type { Usage } from './usage.js';
import type { EndedBlock, WireBlock } from './wire.js';

export interface ModelPort {
  /**
   * Sends one request and reports its blocks as they end. Rejects with a ModelFailure, whatever
   * went wrong; nothing is retried here.
   */
  stream(request: ModelRequest, sink: TurnSink, signal: AbortSignal): Promise<TurnEnd>;
}

export interface ModelRequest {
  readonly model: string;
  /** The whole body, serialised; its pieces are sent as they are, one behind the other. */
  readonly body: readonly Uint8Array[];
  /** Beta features that the request asks for. */
  readonly betas?: readonly string[];
}

export interface TurnSink {
  /** The response has started: what it read from the cache is known. */
  started(): void;
  /** A block is complete. Called in order, before the stream ends. */
  blockEnded(block: EndedBlock): void;
  /** Every raw event, for those who watch; left out when nobody does. */
  event?(event: StreamEvent): void;
}

/** One server-sent event of the Messages API, parsed and otherwise untouched. */
export type StreamEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface TurnEnd {
  readonly messageId: string;
  readonly requestId: string | null;
  /** As the API spells it: `end_turn`, `tool_use`, `max_tokens`, … */
  readonly stopReason: string;
  readonly usage: Usage;
  readonly model: string;
  /** Why the server could not read the prompt from its cache, where it was asked and knows. */
  readonly diagnosis?: CacheDiagnosis | null;
}

/** The API's own words; what else a server may say is not repeated. */
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

/** Why a request did not end. `partial` is what an aborted stream had said until then. */
export class ModelFailure extends SkeinError {
  readonly code = 'model-failure';
  readonly kind: FailureKind;
  readonly status: number | null;
  /** What the server asked for, in milliseconds. */
  readonly retryAfterMs: number | null;
  readonly partial: PartialTurn | null;
  constructor(
    kind: FailureKind,
    message: string,
    detail: {
      status?: number | undefined;
      retryAfterMs?: number | undefined;
      partial?: PartialTurn;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: detail.cause });
    this.kind = kind;
    this.status = detail.status ?? null;
    this.retryAfterMs = detail.retryAfterMs ?? null;
    this.partial = detail.partial ?? null;
  }
}

export interface PartialTurn {
  readonly messageId: string | null;
  readonly usage: Usage;
  /** Text that was cut off in the middle; unfinished thinking and tool_use are dropped. */
  readonly unfinishedText: WireBlock | null;
}

/** Failures that may pass by themselves. */
export const isPassing = (kind: FailureKind): boolean =>
  kind === 'rate-limited' ||
  kind === 'overloaded' ||
  kind === 'server' ||
  kind === 'dropped' ||
  kind === 'stalled' ||
  kind === 'unreachable';
