/**
 * How the requests of agents leave that begin with the same words (law 4). The first request of a child
 * waits where another one is writing what both share; every request that is answered keeps it warm.
 */
import type { CachedUpTo } from '../../context/cache/cached-part.js';
import type { History } from '../../context/history/history.js';
import { tokensOfBytes } from '../../context/window/tokens.js';
import { digestOf } from '../../prompt/cache-miss/request-shape.js';
import { firstMarks } from '../../prompt/request/cache-breakpoints.js';
import type { CacheTtl } from '../../protocol/model/prompt.js';
import type { TellWait } from '../../protocol/model/queueing.js';
import type { FirstRequest, RequestAdmissionDeps } from '../turn/request-admission.js';
import {
  type PrefixWarmup,
  type SharedPrefix,
  type WarmupTicket,
  WORTH_WARMING_TOKENS,
} from './prefix-warmup.js';
import type { PromptHeadManager } from './prompt-head-manager.js';

export interface SharingDeps {
  readonly warmth: PrefixWarmup;
  readonly history: History;
  readonly shelf: Pick<PromptHeadManager, 'head'>;
}

/** So much less than the server keeps it that nobody relies on what has just gone. */
const LIFETIME_MS: Readonly<Record<CacheTtl, number>> = { '5m': 280_000, '1h': 3_500_000 };

/** Of any agent: what stands ahead of its messages is in the cache once it was answered. */
export const prefixPolicy =
  (deps: SharingDeps): RequestAdmissionDeps['depart'] =>
  async (model) => ({ ...keepsHeadWarm(deps, model), marks: undefined, failed: () => {} });

/** Of those that one message asks for; each count has this one in it. */
export interface Siblings {
  /** They begin with the same words. */
  readonly alike: number;
  readonly all: number;
}

/** Of one that works for another. */
export const childPrefixPolicy = (
  deps: SharingDeps,
  siblings: () => Siblings,
): RequestAdmissionDeps['depart'] => {
  const usual = prefixPolicy(deps);
  return async (model, signal, waits) => {
    if (firstRequest(deps, model) === undefined) return usual?.(model, signal, waits);
    const { alike, all } = siblings();
    const ahead = await enterHead(deps, { model, siblings: all }, signal, waits);
    try {
      return await departFirst(deps, { model, ahead, alike }, signal, waits);
    } catch (error) {
      ahead.failed();
      throw error;
    }
  };
};

/** Usually the lead has left it in the cache; on another model, one sibling of whatever type does. */
const enterHead = (
  deps: SharingDeps,
  { model, siblings }: { readonly model: string; readonly siblings: number },
  signal: AbortSignal,
  waits: TellWait,
): Promise<WarmupTicket> => {
  const { warmth, history, shelf } = deps;
  const uncachedTokens = tokensOfBytes(history.promptBytes);
  const lifetimeMs = LIFETIME_MS[shelf.head.ttl];
  const key = headKey(deps, model);
  return warmth.enter({ key, uncachedTokens, siblings, lifetimeMs }, signal, waits);
};

interface Going {
  readonly model: string;
  readonly ahead: WarmupTicket;
  readonly alike: number;
}

const departFirst = async (
  deps: SharingDeps,
  { model, ahead, alike }: Going,
  signal: AbortSignal,
  waits: TellWait,
): Promise<FirstRequest | undefined> => {
  const first = firstRequest(deps, model);
  if (first === undefined) return undefined;
  const head = keepsHeadWarm(deps, model);
  const { history, warmth } = deps;
  const { key, uncachedTokens, ownTokens, lifetimeMs, isFork } = first;
  const isWorthIt = uncachedTokens >= WORTH_WARMING_TOKENS;
  // Nobody waits for one that is alone, and whoever comes later reads what it wrote.
  const isAlone = alike < 2 && !warmth.isWarm(key);
  const departure = isAlone
    ? alone(warmth, first, isWorthIt && !isFork)
    : await warmth.enter({ key, uncachedTokens, siblings: alike, lifetimeMs }, signal, waits);
  const shared = departure.isMarked;
  const own = shared || isAlone || ownTokens >= WORTH_WARMING_TOKENS;
  const unread = ownTokens + (warmth.isWarm(key) ? 0 : first.unreadTokens);
  return {
    marks: firstMarks(history.messages, { cached: history.cached.upTo, shared, own }),
    knownTokens: Math.max(0, history.tokens - unread),
    begun() {
      head.begun();
      departure.begun();
      ahead.begun();
    },
    failed() {
      departure.failed();
      ahead.failed();
    },
  };
};

type First = Omit<SharedPrefix, 'siblings'> & {
  /** Of all that it shares: what nobody in this process has left in the cache. */
  readonly unreadTokens: number;
  readonly ownTokens: number;
  readonly isFork: boolean;
};

const alone = (warmth: PrefixWarmup, { key, lifetimeMs }: First, isMarked: boolean) => ({
  isMarked,
  begun: () => {
    if (isMarked) warmth.keepWarm(key, lifetimeMs);
  },
  failed: () => {},
});

/** Undefined once it was answered, or where nothing says what it shares. */
const firstRequest = (deps: SharingDeps, model: string): First | undefined => {
  const { history, warmth } = deps;
  const { messages, turns, family } = history;
  const newest = messages.at(-1);
  if (turns > 0 || newest?.sharedEnd === undefined) return undefined;
  const head = headKey(deps, model);
  const inherits = family.origin?.inherits;
  const sharedBytes = newest.bytes.subarray(0, newest.sharedEnd);
  const start =
    inherits === undefined ? digestOf(sharedBytes) : `${inherits.agent} ${inherits.seq}`;
  const cold = tokensOfBytes(history.promptBytes + weightBehind(messages, null) + newest.sharedEnd);
  const warm = tokensOfBytes(weightBehind(messages, history.cached.upTo) + newest.sharedEnd);
  const unreadTokens = warmth.isWarm(head) ? warm : cold;
  return {
    key: `${head} ${start}`,
    // Forks mark the same in whatever process they begin (law 2); who writes the rest, the head decides.
    uncachedTokens: inherits === undefined ? unreadTokens : warm,
    unreadTokens,
    ownTokens: tokensOfBytes(newest.bytes.length - newest.sharedEnd),
    lifetimeMs: LIFETIME_MS[deps.shelf.head.ttl],
    isFork: inherits !== undefined,
  };
};

/** Of the messages ahead of the newest one: what comes after the part that is cached. */
const weightBehind = (messages: History['messages'], upTo: CachedUpTo | null): number => {
  const whole = upTo === null ? 0 : upTo.index + 1;
  const marked = upTo?.at === 'shared' ? messages[upTo.index] : undefined;
  const rest = marked === undefined ? 0 : marked.weight - (marked.sharedEnd ?? marked.weight);
  return messages.slice(whole, -1).reduce((sum, { weight }) => sum + weight, rest);
};

const headKey = ({ history }: SharingDeps, model: string): string => `${model} ${history.prompt}`;

const keepsHeadWarm = (deps: SharingDeps, model: string): Pick<FirstRequest, 'begun'> => ({
  begun: () => deps.warmth.keepWarm(headKey(deps, model), LIFETIME_MS[deps.shelf.head.ttl]),
});
