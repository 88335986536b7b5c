/**
 * Prompt cache as the API documents it: which prefixes are cached, until when, and how many tokens
 * a request reads, writes and pays in full. It stores digests, never prompts.
 *
 * Entries are written at breakpoints only. From each breakpoint the cache looks back over 20
 * positions, including the breakpoint, and reads the longest entry found. Every block counts as one
 * position. A prefix below the model's minimum is neither written nor read. A lifetime starts with
 * the request that wrote or read the entry. Entries of a request are visible to other requests
 * after `publish`, when its response starts.
 *
 * Pure: the current time is a parameter.
 */
import { modelFacts } from '../protocol/model/model-facts.js';
import type { PrefixBlock } from './prefix-blocks.js';

/** Input usage with the field names of the wire. */
export interface InputUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
}

export interface CacheAccess {
  readonly usage: InputUsage;
  /** Makes the entries that this request wrote visible to other requests. Call when the response starts. */
  readonly publish: (now: number) => void;
}

const LOOK_BACK = 20;
const LIFETIME_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const;
const UNKNOWN_MODEL_MINIMUM = 1024;

interface Entry {
  readonly lifetime: keyof typeof LIFETIME_MS;
  readonly expires: number;
}

export class PromptCache {
  /** Entries by digest of the prefix, least recently used first. */
  private readonly entries = new Map<string, Entry>();
  private readonly maxEntries: number;

  constructor({ maxEntries = 100_000 } = {}) {
    this.maxEntries = maxEntries;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Computes the usage of a request and refreshes the entries that it reads. */
  access(model: string, blocks: readonly PrefixBlock[], now: number): CacheAccess {
    const minimum = modelFacts(model)?.minimumCacheableTokens ?? UNKNOWN_MODEL_MINIMUM;
    const breakpoints: number[] = [];
    blocks.forEach((block, index) => {
      if (block.breakpoint && block.end >= minimum) breakpoints.push(index);
    });
    const hit = this.lastCachedIndex(blocks, breakpoints, now);
    this.refresh(blocks, [hit, ...breakpoints.filter((breakpoint) => breakpoint < hit)], now);
    return {
      usage: usageOf(blocks, breakpoints, hit),
      publish: (startedAt) => this.storeWritten(blocks, breakpoints, now, startedAt),
    };
  }

  /** Returns the index of the last block of the longest cached prefix, or -1. */
  private lastCachedIndex(
    blocks: readonly PrefixBlock[],
    breakpoints: readonly number[],
    now: number,
  ): number {
    for (const breakpoint of breakpoints.toReversed()) {
      const oldest = Math.max(0, breakpoint - LOOK_BACK + 1);
      for (let index = breakpoint; index >= oldest; index--)
        if (this.liveEntry(blocks[index]?.digest, now)) return index;
    }
    return -1;
  }

  private liveEntry(digest: string | undefined, now: number): Entry | undefined {
    if (digest === undefined) return undefined;
    const entry = this.entries.get(digest);
    if (entry && entry.expires <= now) this.entries.delete(digest);
    else return entry;
    return undefined;
  }

  private refresh(blocks: readonly PrefixBlock[], read: readonly number[], now: number): void {
    for (const index of read) {
      const digest = blocks[index]?.digest;
      const entry = this.liveEntry(digest, now);
      if (entry && digest) this.store(digest, entry.lifetime, now);
    }
  }

  private storeWritten(
    blocks: readonly PrefixBlock[],
    breakpoints: number[],
    requestedAt: number,
    now: number,
  ): void {
    for (const breakpoint of breakpoints) {
      const block = blocks[breakpoint];
      if (block?.breakpoint && !this.liveEntry(block.digest, now))
        this.store(block.digest, block.breakpoint, requestedAt);
    }
    this.trim(now);
  }

  private store(digest: string, lifetime: Entry['lifetime'], from: number): void {
    this.entries.delete(digest);
    this.entries.set(digest, { lifetime, expires: from + LIFETIME_MS[lifetime] });
  }

  /** Removes expired entries at the old end, and the oldest entries above `maxEntries`. */
  private trim(now: number): void {
    for (const [digest, entry] of this.entries) {
      if (entry.expires > now && this.entries.size <= this.maxEntries) return;
      this.entries.delete(digest);
    }
  }
}

/**
 * Computes the usage: reads up to `hit`, 1-hour writes up to the last 1-hour breakpoint, 5-minute writes up to the
 * last breakpoint, and the rest in full.
 */
const usageOf = (
  blocks: readonly PrefixBlock[],
  breakpoints: readonly number[],
  hit: number,
): InputUsage => {
  const endOf = (index: number | undefined) => blocks[index ?? -1]?.end ?? 0;
  const read = endOf(hit);
  const lastHour = breakpoints.findLast((breakpoint) => blocks[breakpoint]?.breakpoint === '1h');
  const hourEnd = Math.max(read, endOf(lastHour));
  const writtenEnd = Math.max(hourEnd, endOf(breakpoints.at(-1)));
  return {
    input_tokens: endOf(blocks.length - 1) - writtenEnd,
    cache_creation_input_tokens: writtenEnd - read,
    cache_read_input_tokens: read,
    cache_creation: {
      ephemeral_5m_input_tokens: writtenEnd - hourEnd,
      ephemeral_1h_input_tokens: hourEnd - read,
    },
  };
};
