/** How fast a swarm works: what its requests brought in the last minute, at a fixed cost for each event. */
import { spendingOf } from '../../context/budget/event-spending.js';
import { windowTokens } from '../../protocol/model/usage.js';
import type { SwarmEvent } from '../../protocol/session/events.js';

export interface Rate {
  readonly turnsPerMinute: number;
  /** All that the server counted: prompts, read from its cache or not, and answers. */
  readonly tokensPerMinute: number;
  /** Null when a price is not known. */
  readonly usdPerMinute: number | null;
}

const SECONDS = 60;
/** What has just begun is not taken for a minute of the same. */
const SHORTEST_SECONDS = 10;

/** What happened in one second of the last minute. */
interface Bucket {
  second: number;
  turns: number;
  tokens: number;
  usd: number;
  unpriced: number;
}

export class Pace {
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

  copy(): Pace {
    const twin = new Pace();
    twin.first = this.first;
    for (const [place, bucket] of this.buckets) twin.buckets.set(place, { ...bucket });
    return twin;
  }

  /** Per minute, over the minute up to `now`; of a swarm that is younger, over its life so far. */
  at(now: number): Rate {
    const end = Math.floor(now / 1_000);
    const sum = { turns: 0, tokens: 0, usd: 0, unpriced: 0 };
    for (const { second, turns, tokens, usd, unpriced } of this.buckets.values()) {
      // The clocks of workers need not agree with this one.
      if (second <= end - SECONDS || second > end + SECONDS) continue;
      sum.turns += turns;
      sum.tokens += tokens;
      sum.usd += usd;
      sum.unpriced += unpriced;
    }
    const life = (now - (this.first ?? now)) / 1_000;
    const perMinute = 60 / Math.min(SECONDS, Math.max(SHORTEST_SECONDS, life));
    return {
      turnsPerMinute: sum.turns * perMinute,
      tokensPerMinute: sum.tokens * perMinute,
      usdPerMinute: sum.unpriced > 0 ? null : sum.usd * perMinute,
    };
  }

  /** One for all seconds that lie whole minutes apart: the newest has it. */
  private bucketAt(second: number): Bucket | undefined {
    const place = ((second % SECONDS) + SECONDS) % SECONDS;
    const known = this.buckets.get(place);
    if (known?.second === second) return known;
    if (known !== undefined && known.second > second) return undefined;
    const fresh = { second, turns: 0, tokens: 0, usd: 0, unpriced: 0 };
    this.buckets.set(place, fresh);
    return fresh;
  }
}
