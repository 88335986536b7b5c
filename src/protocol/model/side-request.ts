/**
 * Model request outside the conversation, such as reading a page or searching the web. Its cost is
 * charged to the agent's budget and journaled.
 */
import { SkeinError } from '../skein-error.js';
import type { WireBlock } from './wire-block.js';

/** Does not retry. Rejects with SideRequestFailure, or with the signal's reason if it aborts. */
export type SendSideRequest = (request: SideRequest, signal: AbortSignal) => Promise<SideAnswer>;

export interface SideRequest {
  /** One word for the journal, such as `page` or `search`. */
  readonly purpose: string;
  readonly system: string;
  readonly prompt: string;
  /** Server-side tools, in the format of the API. The answer may contain their blocks. */
  readonly serverTools?: readonly Readonly<Record<string, unknown>>[];
  readonly maxTokens: number;
}

export interface SideAnswer {
  /** All text blocks, joined. */
  readonly text: string;
  readonly blocks: readonly WireBlock[];
  readonly stopReason: string;
}

/** Failure of a side request. The message may be shown to the model. */
export class SideRequestFailure extends SkeinError {
  readonly code = 'consult-failure';
  /** True if the server does not support the request, such as one of its server-side tools. */
  readonly unsupported: boolean;
  constructor(message: string, unsupported: boolean, options?: ErrorOptions) {
    super(message, options);
    this.unsupported = unsupported;
  }
}
