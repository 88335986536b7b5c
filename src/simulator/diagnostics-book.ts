/**
 * Why a prompt could not be read from the cache, as the API documents it: how the request before looked
 * is kept under the id of its answer, and the first part that differs is named. Nothing is kept but digests.
 */
import type { MessagesRequest } from './messages-request.js';
import { blocksOf } from './messages-request.js';
import type { PromptBlock } from './prompt-blocks.js';

export interface Diagnostics {
  readonly cache_miss_reason: {
    readonly type: string;
    readonly cache_missed_input_tokens?: number;
  } | null;
}

/** Digests of the prompt up to the end of each part. */
interface Fingerprint {
  readonly model: string;
  readonly tools: string;
  readonly system: string;
  readonly messages: string;
  readonly blocks: number;
  readonly tokens: number;
}

export class DiagnosticsBook {
  /** By id of the answer, oldest first. */
  private readonly prints = new Map<string, Fingerprint>();
  private readonly most: number;

  constructor({ most = 10_000 } = {}) {
    this.most = most;
  }

  get size(): number {
    return this.prints.size;
  }

  /** Null when the request does not ask, or when nothing in it has changed. */
  diagnose(
    request: MessagesRequest,
    blocks: readonly PromptBlock[],
    readTokens: number,
  ): Diagnostics | null {
    const previous = request.diagnostics?.previous_message_id;
    if (typeof previous !== 'string') return null;
    const before = this.prints.get(previous);
    if (before === undefined) return { cache_miss_reason: { type: 'previous_message_not_found' } };
    const type = firstChange(before, fingerprint(request, blocks, before.blocks));
    if (type === undefined) return null;
    const missed = Math.max(0, before.tokens - readTokens);
    return { cache_miss_reason: { type, cache_missed_input_tokens: missed } };
  }

  /** Only requests that ask are remembered. */
  keep(id: string, request: MessagesRequest, blocks: readonly PromptBlock[]): void {
    if (!request.diagnostics) return;
    this.prints.delete(id);
    this.prints.set(id, fingerprint(request, blocks, blocks.length));
    for (const [oldest] of this.prints) {
      if (this.prints.size <= this.most) return;
      this.prints.delete(oldest);
    }
  }
}

/** Of the first so many blocks: what follows them is new, not changed. */
const fingerprint = (
  { model, tools = [], system }: MessagesRequest,
  prompt: readonly PromptBlock[],
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
