/** Throughput of a swarm in the last minute, at a fixed cost per event. */
import { spendingOf } from '../../context/budget/event-spending.js';
import { windowTokens } from '../../protocol/model/usage.js';
import type { SwarmEvent } from '../../protocol/session/swarm-event.js';

export interface Throughput {
  readonly turnsPerMinute: number;
  /** All tokens that the server counted: prompts, cached or not, and answers. */
  readonly tokensPerMinute: number;
  /** Null if a price is unknown. */
  readonly usdPerMinute: number | null;
}

const SECONDS = 60;
/** Minimum length of the measured time, so that the first requests of a swarm are not extrapolated. */
const MIN_SECONDS = 10;

/** Totals of one second of the last minute. */
interface Bucket {
  second: number;
  turns: number;
  tokens: number;
  usd: number;
  unpriced: number;
}

export class SwarmThroughput {
  private readonly buckets = new Map<number, Bucket>();
  private first: number | undefined;

  take(event: SwarmEvent): void {
    this.first ??= event.ts;
    const spent = spendingOf(event);
    if (spent === undefined) return;
    const bucket = this.bucketAt(Math.floor(event.ts / 1_000));
    if (bucket === undefined) return;
    if (event.type === 'turn.ended') bucket.turns += 1;
    bucket.tokens += windowTokens(spent.usage);
    bucket.usd += spent.cost ?? 0;
    if (spent.cost === null) bucket.unpriced += 1;
  }

  copy(): SwarmThroughput {
    const copy = new SwarmThroughput();
    copy.first = this.first;
    for (const [index, bucket] of this.buckets) copy.buckets.set(index, { ...bucket });
    return copy;
  }

  /** Returns the rates of the minute before `now`, or of the swarm's whole life if it is younger. */
  at(now: number): Throughput {
    const end = Math.floor(now / 1_000);
    const sum = { turns: 0, tokens: 0, usd: 0, unpriced: 0 };
    for (const { second, turns, tokens, usd, unpriced } of this.buckets.values()) {
      // The clocks of workers may differ from this clock.
      if (second <= end - SECONDS || second > end + SECONDS) continue;
      sum.turns += turns;
      sum.tokens += tokens;
      sum.usd += usd;
      sum.unpriced += unpriced;
    }
    const ageSeconds = (now - (this.first ?? now)) / 1_000;
    const perMinute = 60 / Math.min(SECONDS, Math.max(MIN_SECONDS, ageSeconds));
    return {
      turnsPerMinute: sum.turns * perMinute,
      tokensPerMinute: sum.tokens * perMinute,
      usdPerMinute: sum.unpriced > 0 ? null : sum.usd * perMinute,
    };
  }

  /** Buckets form a ring: seconds that are whole minutes apart share a bucket, and the newest second wins. */
  private bucketAt(second: number): Bucket | undefined {
    const index = ((second % SECONDS) + SECONDS) % SECONDS;
    const bucket = this.buckets.get(index);
    if (bucket?.second === second) return bucket;
    if (bucket !== undefined && bucket.second > second) return undefined;
    const fresh = { second, turns: 0, tokens: 0, usd: 0, unpriced: 0 };
    this.buckets.set(index, fresh);
    return fresh;
  }
}
