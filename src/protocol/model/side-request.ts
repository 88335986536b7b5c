/**
 * A request to a model that is no part of the conversation: reading a page, searching the web. It is
 * paid for like any other, and its cost is journaled.
 */
import { SkeinError } from '../errors.js';
import type { WireBlock } from './wire.js';

/** Never repeats by itself. Rejects with a ConsultFailure, or the signal's reason once aborted. */
export type Consult = (request: ConsultRequest, signal: AbortSignal) => Promise<ConsultAnswer>;

export interface ConsultRequest {
  /** One word for the journal: `page`, `search`. */
  readonly purpose: string;
  readonly system: string;
  readonly prompt: string;
  /** Tools that run on the server, as the API takes them; the answer may hold their blocks. */
  readonly serverTools?: readonly Readonly<Record<string, unknown>>[];
  readonly maxTokens: number;
}

export interface ConsultAnswer {
  /** The text blocks, joined. */
  readonly text: string;
  readonly blocks: readonly WireBlock[];
  readonly stopReason: string;
}

/** Why there is no answer, in a sentence that may be shown to the model that asked. */
export class ConsultFailure extends SkeinError {
  readonly code = 'consult-failure';
  /** The server does not know what was asked of it, such as a tool of its own. */
  readonly unsupported: boolean;
  constructor(message: string, unsupported: boolean, options?: ErrorOptions) {
    super(message, options);
    this.unsupported = unsupported;
  }
}
