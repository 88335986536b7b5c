/**
 * What the cache gave and where it failed, folded from events: tokens read and written, and every
 * miss with its cause. A prompt that is cached for the first time is no miss: nothing could be read.
 */
import { CACHE_CAUSES, type CacheCause } from '../../protocol/model/cache-causes.js';
import { costOf } from '../../protocol/model/prices.js';
import type { Usage } from '../../protocol/model/usage.js';
import { cacheReadPercent } from './cache-share.js';

/** One answer that read much less than the request before had left in the cache. */
export interface CacheMiss {
  readonly agent: string;
  readonly turn: number;
  readonly attempt: number;
  readonly cause: CacheCause;
  readonly expected: boolean;
  readonly owner: string;
  /** Where in the owner's text the first byte differs. */
  readonly byte: number | null;
  readonly cachedTokens: number;
  readonly readTokens: number;
  readonly lostTokens: number;
  /** USD, an estimate; null when the price of the model, or what was paid, is not known. */
  readonly extraCostUsd: number | null;
  readonly detail: string;
  readonly diagnosis: string | null;
}

/** Misses of one cause; those that were declared ahead are told apart from accidents. */
export interface CacheCauseLine {
  readonly cause: CacheCause;
  readonly expected: boolean;
  readonly count: number;
  readonly lostTokens: number;
  readonly extraCostUsd: number | null;
  /** The most frequent first. */
  readonly owners: readonly { readonly owner: string; readonly count: number }[];
  /** What the newest of them says, in words. */
  readonly detail: string;
  /** What the server said itself, each sentence once. */
  readonly diagnoses: readonly string[];
}

export interface CacheReport {
  readonly readTokens: number;
  readonly writtenTokens: number;
  /** Neither read nor written: paid in full. */
  readonly uncachedTokens: number;
  readonly promptTokens: number;
  /** Of the prompt tokens; null when nothing was sent. */
  readonly readPercent: number | null;
  readonly missCount: number;
  readonly accidentCount: number;
  readonly lostTokens: number;
  readonly extraCostUsd: number | null;
  /** Accidents first, then by what was lost. */
  readonly causes: readonly CacheCauseLine[];
  /** The newest ones, oldest first. */
  readonly misses: readonly CacheMiss[];
  /** Older misses that are counted above and not listed. */
  readonly missesLeftOut: number;
}

/** As events are read from disk: anybody may have written them. */
type Event = Readonly<Record<string, unknown>>;

const MOST_MISSES = 1_000;
const MOST_OWNERS = 100;
const MOST_DIAGNOSES = 10;
const EVERYTHING_ELSE = '(others)';

export class CacheLedger {
  private usage = { read: 0, written: 0, uncached: 0 };
  private readonly groups = new Map<string, Group>();
  private readonly misses: CacheMiss[] = [];
  private leftOut = 0;
  /** What the newest answer of an agent used: the miss that belongs to it comes before or after. */
  private readonly answers = new Map<string, { attempt: string; model: string; usage: Usage }>();
  private readonly waiting = new Map<string, Event>();

  /** An answer that was paid for, turn or not. */
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

  /** A miss whose answer never came, or came long before: what it cost cannot be told. */
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
    if (this.misses.length > MOST_MISSES) {
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

  constructor(cause: CacheCause, expected: boolean) {
    this.cause = cause;
    this.expected = expected;
  }

  add({ owner, lostTokens, extraCostUsd, detail, diagnosis }: CacheMiss): void {
    this.times += 1;
    this.lost += lostTokens;
    this.extra = plus(this.extra, extraCostUsd);
    this.detail = detail;
    const isKnown = this.owners.has(owner) || this.owners.size < MOST_OWNERS;
    const name = isKnown ? owner : EVERYTHING_ELSE;
    this.owners.set(name, (this.owners.get(name) ?? 0) + 1);
    if (diagnosis !== null && this.diagnoses.size < MOST_DIAGNOSES) this.diagnoses.add(diagnosis);
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
  const cause = CACHE_CAUSES.find((known) => known === event.cause);
  if (cause === undefined) return undefined;
  const cachedTokens = numberIn(event.cachedTokens);
  const readTokens = numberIn(event.readTokens);
  const lostTokens = Math.max(0, cachedTokens - readTokens);
  return {
    agent: textIn(event.agent),
    turn: numberIn(event.turn),
    attempt: numberIn(event.attempt),
    cause,
    expected: event.expected === true,
    owner: textIn(event.owner),
    byte: typeof event.byte === 'number' ? event.byte : null,
    cachedTokens,
    readTokens,
    lostTokens,
    extraCostUsd: answer === undefined ? null : extraCost(answer.model, answer.usage, lostTokens),
    detail: textIn(event.detail),
    diagnosis: typeof event.diagnosis === 'string' ? event.diagnosis : null,
  };
};

/**
 * What the answer cost more than if the lost tokens had been read. Tokens that the prompt no longer
 * has, as after a compaction, were not paid for again.
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
  const [paid, cheaper] = [costOf(model, usage), costOf(model, read)];
  return paid === undefined || cheaper === undefined ? null : Math.max(0, paid - cheaper);
};

const attemptOf = ({ turn, attempt }: Event): string => JSON.stringify([turn, attempt]);

const sum = <T>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((total, one) => total + of(one), 0);

const plus = (all: number | null, more: number | null): number | null =>
  all === null || more === null ? null : all + more;

const numberIn = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');
