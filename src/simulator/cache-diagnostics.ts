/**
 * Cache diagnostics as the API documents them: compares a request with the digests of the request
 * that `previous_message_id` answered, and names the first part that differs.
 */
import type { MessagesRequest } from './messages-request.js';
import { blocksOf } from './messages-request.js';
import type { PrefixBlock } from './prefix-blocks.js';

export interface Diagnostics {
  readonly cache_miss_reason: {
    readonly type: string;
    readonly cache_missed_input_tokens?: number;
  } | null;
}

/** Digests of the prompt up to the end of each part, with the number of blocks and tokens. */
interface Fingerprint {
  readonly model: string;
  readonly tools: string;
  readonly system: string;
  readonly messages: string;
  readonly blocks: number;
  readonly tokens: number;
}

export class CacheDiagnostics {
  /** Fingerprints by message id of the answer, oldest first. */
  private readonly fingerprints = new Map<string, Fingerprint>();
  private readonly maxEntries: number;

  constructor({ maxEntries = 10_000 } = {}) {
    this.maxEntries = maxEntries;
  }

  get size(): number {
    return this.fingerprints.size;
  }

  /** Returns null if the request does not ask for diagnostics or its prefix has not changed. */
  diagnose(
    request: MessagesRequest,
    blocks: readonly PrefixBlock[],
    readTokens: number,
  ): Diagnostics | null {
    const previous = request.diagnostics?.previous_message_id;
    if (typeof previous !== 'string') return null;
    const before = this.fingerprints.get(previous);
    if (before === undefined) return { cache_miss_reason: { type: 'previous_message_not_found' } };
    const type = firstChange(before, fingerprint(request, blocks, before.blocks));
    if (type === undefined) return null;
    const missed = Math.max(0, before.tokens - readTokens);
    return { cache_miss_reason: { type, cache_missed_input_tokens: missed } };
  }

  /** Stores the fingerprint of a request that asks for diagnostics. */
  remember(id: string, request: MessagesRequest, blocks: readonly PrefixBlock[]): void {
    if (!request.diagnostics) return;
    this.fingerprints.delete(id);
    this.fingerprints.set(id, fingerprint(request, blocks, blocks.length));
    for (const [oldest] of this.fingerprints) {
      if (this.fingerprints.size <= this.maxEntries) return;
      this.fingerprints.delete(oldest);
    }
  }
}

/** Returns the fingerprint of the first `blocks` blocks. Later blocks are new, not changed. */
const fingerprint = (
  { model, tools = [], system }: MessagesRequest,
  prompt: readonly PrefixBlock[],
  blocks: number,
): Fingerprint => {
  const endOfSystem = tools.length + (system ? blocksOf(system).length : 0);
  const upTo = (count: number) => prompt[count - 1]?.digest ?? '';
  return {
    model,
    tools: upTo(tools.length),
    system: upTo(endOfSystem),
    messages: upTo(blocks),
    blocks,
    tokens: prompt[blocks - 1]?.end ?? 0,
  };
};

const firstChange = (before: Fingerprint, now: Fingerprint): string | undefined =>
  (['model', 'tools', 'system', 'messages'] as const)
    .filter((part) => before[part] !== now[part])
    .map((part) => `${part}_changed`)[0];
