/** The parts of a Messages API request that the simulator reads, after validation. */

export interface CacheMark {
  readonly type: 'ephemeral';
  readonly ttl?: '5m' | '1h';
}

/** Any content block. Fields other than these are kept as they came. */
export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: unknown;
  readonly cache_control?: CacheMark | null;
  readonly [field: string]: unknown;
}

export interface RequestMessage {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly Block[];
}

export interface MessagesRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly RequestMessage[];
  readonly system?: string | readonly Block[];
  readonly tools?: readonly Block[];
  readonly stream?: boolean;
  readonly cache_control?: CacheMark | null;
  readonly diagnostics?: { readonly previous_message_id?: string | null } | null;
  readonly [field: string]: unknown;
}

export const blocksOf = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;
