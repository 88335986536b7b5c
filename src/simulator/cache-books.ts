/**
 * The prompt cache as the API documents it, without the prompts: which prefixes are cached, until
 * when, and what a request reads, writes and pays in full.
 *
 * An entry is written at each mark and nowhere else. From each mark the books look back over 20
 * positions, the mark itself being the first, and the longest entry found anywhere is read. A
 * prefix below the model's minimum is neither written nor read. A lifetime counts from the start of
 * the request that wrote or read the entry. What a request writes can be read by others only after
 * `begin`: when its response has started. Every block is one position, also in a run of tool results.
 *
 * Pure: time comes in as a number, and nothing is kept but digests.
 */
import { modelFacts } from '../protocol/model/prices.js';
import type { PromptBlock } from './prompt-blocks.js';

/** Field names are those of the wire. */
export interface InputUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
}

export interface Booking {
  readonly usage: InputUsage;
  /** The response has started: what this request wrote is there for others from now on. */
  readonly begin: (now: number) => void;
}

const LOOK_BACK = 20;
const LIFETIME_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const;
const UNKNOWN_MODEL_MINIMUM = 1024;

interface Entry {
  readonly lifetime: keyof typeof LIFETIME_MS;
  readonly expires: number;
}

export class CacheBooks {
  /** By digest of the prefix, least recently used first. */
  private readonly entries = new Map<string, Entry>();
  private readonly maxEntries: number;

  constructor({ maxEntries = 100_000 } = {}) {
    this.maxEntries = maxEntries;
  }

  get size(): number {
    return this.entries.size;
  }

  /** A request has arrived: settles what it reads and writes, and refreshes what it reads. */
  book(model: string, blocks: readonly PromptBlock[], now: number): Booking {
    const minimum = modelFacts(model)?.minimumCacheableTokens ?? UNKNOWN_MODEL_MINIMUM;
    const marks: number[] = [];
    blocks.forEach((block, index) => {
      if (block.mark && block.end >= minimum) marks.push(index);
    });
    const hit = this.longestHit(blocks, marks, now);
    this.refresh(blocks, [hit, ...marks.filter((mark) => mark < hit)], now);
    return {
      usage: usageOf(blocks, marks, hit),
      begin: (startedAt) => this.write(blocks, marks, now, startedAt),
    };
  }

  /** Index of the last block of the longest cached prefix, or -1. */
  private longestHit(
    blocks: readonly PromptBlock[],
    marks: readonly number[],
    now: number,
  ): number {
    for (const mark of marks.toReversed()) {
      const oldest = Math.max(0, mark - LOOK_BACK + 1);
      for (let index = mark; index >= oldest; index--)
        if (this.alive(blocks[index]?.digest, now)) return index;
    }
    return -1;
  }

  private alive(digest: string | undefined, now: number): Entry | undefined {
    if (digest === undefined) return undefined;
    const entry = this.entries.get(digest);
    if (entry && entry.expires <= now) this.entries.delete(digest);
    else return entry;
    return undefined;
  }

  private refresh(blocks: readonly PromptBlock[], read: readonly number[], now: number): void {
    for (const index of read) {
      const digest = blocks[index]?.digest;
      const entry = this.alive(digest, now);
      if (entry && digest) this.put(digest, entry.lifetime, now);
    }
  }

  private write(
    blocks: readonly PromptBlock[],
    marks: number[],
    bookedAt: number,
    now: number,
  ): void {
    for (const mark of marks) {
      const block = blocks[mark];
      if (block?.mark && !this.alive(block.digest, now))
        this.put(block.digest, block.mark, bookedAt);
    }
    this.trim(now);
  }

  private put(digest: string, lifetime: Entry['lifetime'], from: number): void {
    this.entries.delete(digest);
    this.entries.set(digest, { lifetime, expires: from + LIFETIME_MS[lifetime] });
  }

  /** Drops what has expired at the old end, and the oldest of what is too much. */
  private trim(now: number): void {
    for (const [digest, entry] of this.entries) {
      if (entry.expires > now && this.entries.size <= this.maxEntries) return;
      this.entries.delete(digest);
    }
  }
}

/** Reads up to the hit, hour-long writes up to the last hour-long mark, short ones up to the last. */
const usageOf = (
  blocks: readonly PromptBlock[],
  marks: readonly number[],
  hit: number,
): InputUsage => {
  const endOf = (index: number | undefined) => blocks[index ?? -1]?.end ?? 0;
  const read = endOf(hit);
  const lastHour = marks.findLast((mark) => blocks[mark]?.mark === '1h');
  const hourEnd = Math.max(read, endOf(lastHour));
  const writtenEnd = Math.max(hourEnd, endOf(marks.at(-1)));
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
