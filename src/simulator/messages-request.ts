/** Fields of a validated Messages API request that the simulator reads. */

export interface CacheControl {
  readonly type: 'ephemeral';
  readonly ttl?: '5m' | '1h';
}

/** Content block of any type. Other fields are kept unchanged. */
export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: unknown;
  readonly cache_control?: CacheControl | null;
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
  readonly cache_control?: CacheControl | null;
  readonly diagnostics?: { readonly previous_message_id?: string | null } | null;
  readonly [field: string]: unknown;
}

export const blocksOf = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;
