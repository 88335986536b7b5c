/**
 * Report on the prompt cache: tokens read and written, and each miss with its cause. The first write of
 * a prompt is not a miss.
 */
import { asText } from '../../lib/text/as-text.js';
import { CACHE_CAUSES, type CacheCause } from '../../protocol/model/cache-causes.js';
import { requestCost } from '../../protocol/model/request-cost.js';
import type { Usage } from '../../protocol/model/usage.js';
import { cacheReadPercent } from './cache-read-percent.js';

/** An answer that read much less than the previous request had left in the cache. */
interface CacheMiss {
  readonly agent: string;
  readonly turn: number;
  readonly attempt: number;
  readonly cause: CacheCause;
  readonly expected: boolean;
  readonly owner: string;
  /** Offset of the first different byte in the owner's text, or null. */
  readonly byte: number | null;
  readonly cachedTokens: number;
  readonly readTokens: number;
  readonly lostTokens: number;
  /** Estimated USD. Null if the price of the model or the usage of the answer is unknown. */
  readonly extraCostUsd: number | null;
  readonly detail: string;
  readonly diagnosis: string | null;
}

/** Misses with one cause. Expected misses and accidents have separate lines. */
export interface CacheCauseLine {
  readonly cause: CacheCause;
  readonly expected: boolean;
  readonly count: number;
  readonly lostTokens: number;
  readonly extraCostUsd: number | null;
  /** Most frequent first. */
  readonly owners: readonly { readonly owner: string; readonly count: number }[];
  /** Explanation of the newest miss. */
  readonly detail: string;
  /** Distinct diagnoses of the server. */
  readonly diagnoses: readonly string[];
}

export interface CacheReport {
  readonly readTokens: number;
  readonly writtenTokens: number;
  /** Tokens neither read nor written, paid in full. */
  readonly uncachedTokens: number;
  readonly promptTokens: number;
  /** Percentage of prompt tokens read from the cache. Null if no request was sent. */
  readonly readPercent: number | null;
  readonly missCount: number;
  readonly accidentCount: number;
  readonly lostTokens: number;
  readonly extraCostUsd: number | null;
  /** Accidents first, then by lost tokens. */
  readonly causes: readonly CacheCauseLine[];
  /** Newest misses, oldest first. */
  readonly misses: readonly CacheMiss[];
  /** Older misses that are counted but not listed. */
  readonly missesLeftOut: number;
}

/** Event from disk, whose values are not trusted. */
type Event = Readonly<Record<string, unknown>>;

const MAX_MISSES = 1_000;
const MAX_OWNERS = 100;
const MAX_DIAGNOSES = 10;
const OTHER_OWNERS = '(others)';

export class CacheReportFold {
  private usage = { read: 0, written: 0, uncached: 0 };
  private readonly groups = new Map<string, Group>();
  private readonly misses: CacheMiss[] = [];
  private leftOut = 0;
  /** Usage of each agent's newest answer. The event of its miss may come before or after. */
  private readonly answers = new Map<string, { attempt: string; model: string; usage: Usage }>();
  /** Misses whose answer has not come yet, by agent. */
  private readonly waiting = new Map<string, Event>();

  /** Takes a billed answer of a turn or a side request. */
  spend(event: Event, model: string, usage: Usage): void {
    this.usage.read += usage.cacheRead;
    this.usage.written += usage.cacheWrite5m + usage.cacheWrite1h;
    this.usage.uncached += usage.input;
    if (event.type !== 'turn.ended' && event.type !== 'turn.failed') return;
    const agent = String(event.agent);
    const answer = { attempt: attemptOf(event), model, usage };
    this.answers.set(agent, answer);
    const early = this.waiting.get(agent);
    if (early === undefined || attemptOf(early) !== answer.attempt) return;
    this.waiting.delete(agent);
    this.count(early, answer);
  }

  miss(event: Event): void {
    const agent = String(event.agent);
    this.settle(agent);
    const answer = this.answers.get(agent);
    if (answer?.attempt === attemptOf(event)) this.count(event, answer);
    else this.waiting.set(agent, event);
  }

  report(): CacheReport {
    for (const agent of this.waiting.keys()) this.settle(agent);
    const { read, written, uncached } = this.usage;
    const prompt = read + written + uncached;
    const groups = [...this.groups.values()];
    const accidents = groups.filter(({ expected }) => !expected);
    return {
      readTokens: read,
      writtenTokens: written,
      uncachedTokens: uncached,
      promptTokens: prompt,
      readPercent: cacheReadPercent(read, prompt),
      missCount: sum(groups, ({ times }) => times),
      accidentCount: sum(accidents, ({ times }) => times),
      lostTokens: sum(groups, ({ lost }) => lost),
      extraCostUsd: groups.reduce<number | null>((all, { extra }) => plus(all, extra), 0),
      causes: groups.sort(worstFirst).map((group) => group.line()),
      misses: this.misses,
      missesLeftOut: this.leftOut,
    };
  }

  /** Counts a miss without an answer. Its extra cost is unknown. */
  private settle(agent: string): void {
    const event = this.waiting.get(agent);
    if (event === undefined) return;
    this.waiting.delete(agent);
    this.count(event, undefined);
  }

  private count(event: Event, answer: { model: string; usage: Usage } | undefined): void {
    const miss = missOf(event, answer);
    if (miss === undefined) return;
    this.misses.push(miss);
    if (this.misses.length > MAX_MISSES) {
      this.misses.shift();
      this.leftOut += 1;
    }
    const key = `${miss.cause} ${miss.expected}`;
    const group = this.groups.get(key) ?? new Group(miss.cause, miss.expected);
    this.groups.set(key, group);
    group.add(miss);
  }
}

class Group {
  readonly cause: CacheCause;
  readonly expected: boolean;
  times = 0;
  lost = 0;
  extra: number | null = 0;
  private detail = '';
  private readonly owners = new Map<string, number>();
  private readonly diagnoses = new Set<string>();

  constructor(cause: CacheCause, isExpected: boolean) {
    this.cause = cause;
    this.expected = isExpected;
  }

  add({ owner, lostTokens, extraCostUsd, detail, diagnosis }: CacheMiss): void {
    this.times += 1;
    this.lost += lostTokens;
    this.extra = plus(this.extra, extraCostUsd);
    this.detail = detail;
    const isNamed = this.owners.has(owner) || this.owners.size < MAX_OWNERS;
    const name = isNamed ? owner : OTHER_OWNERS;
    this.owners.set(name, (this.owners.get(name) ?? 0) + 1);
    if (diagnosis !== null && this.diagnoses.size < MAX_DIAGNOSES) this.diagnoses.add(diagnosis);
  }

  line(): CacheCauseLine {
    const { cause, expected, times, lost, extra, detail } = this;
    const owners = [...this.owners].map(([owner, count]) => ({ owner, count }));
    return {
      cause,
      expected,
      count: times,
      lostTokens: lost,
      extraCostUsd: extra,
      owners: owners.sort((a, b) => b.count - a.count),
      detail,
      diagnoses: [...this.diagnoses],
    };
  }
}

const worstFirst = (a: Group, b: Group): number =>
  Number(a.expected) - Number(b.expected) || b.lost - a.lost || (a.cause < b.cause ? -1 : 1);

const missOf = (
  event: Event,
  answer: { model: string; usage: Usage } | undefined,
): CacheMiss | undefined => {
  const cause = CACHE_CAUSES.find((cause) => cause === event.cause);
  if (cause === undefined) return undefined;
  const cachedTokens = numberIn(event.cachedTokens);
  const readTokens = numberIn(event.readTokens);
  const lostTokens = Math.max(0, cachedTokens - readTokens);
  return {
    agent: asText(event.agent),
    turn: numberIn(event.turn),
    attempt: numberIn(event.attempt),
    cause,
    expected: event.expected === true,
    owner: asText(event.owner),
    byte: typeof event.byte === 'number' ? event.byte : null,
    cachedTokens,
    readTokens,
    lostTokens,
    extraCostUsd: answer === undefined ? null : extraCost(answer.model, answer.usage, lostTokens),
    detail: asText(event.detail),
    diagnosis: typeof event.diagnosis === 'string' ? event.diagnosis : null,
  };
};

/**
 * Returns the extra cost compared to reading the lost tokens from the cache. Tokens that the prompt no
 * longer contains, as after a compaction, were not paid again.
 */
const extraCost = (model: string, usage: Usage, lost: number): number | null => {
  const hour = Math.min(lost, usage.cacheWrite1h);
  const minutes = Math.min(lost - hour, usage.cacheWrite5m);
  const full = Math.min(lost - hour - minutes, usage.input);
  const read: Usage = {
    ...usage,
    input: usage.input - full,
    cacheRead: usage.cacheRead + hour + minutes + full,
    cacheWrite5m: usage.cacheWrite5m - minutes,
    cacheWrite1h: usage.cacheWrite1h - hour,
  };
  const [paid, cheaper] = [requestCost(model, usage), requestCost(model, read)];
  return paid === undefined || cheaper === undefined ? null : Math.max(0, paid - cheaper);
};

const attemptOf = ({ turn, attempt }: Event): string => JSON.stringify([turn, attempt]);

const sum = <T>(all: readonly T[], of: (item: T) => number): number =>
  all.reduce((total, item) => total + of(item), 0);

const plus = (all: number | null, more: number | null): number | null =>
  all === null || more === null ? null : all + more;

const numberIn = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;
