/**
 * Cache policy for requests that share a prefix (law 4). The first request of a child waits while
 * another request writes the shared prefix; each answered request keeps the prefix warm.
 */
import type { CachedUpTo } from '../../context/cache/cached-part.js';
import type { History } from '../../context/history/history.js';
import { tokensOfBytes } from '../../context/window/text-weight.js';
import { shapeDigest } from '../../prompt/cache-miss/request-shape.js';
import { firstBreakpoints } from '../../prompt/request/cache-breakpoints.js';
import type { OnWait } from '../../protocol/model/governor.js';
import type { CacheTtl } from '../../protocol/model/prompt-head.js';
import type { RequestAdmissionDeps, RequestCaching } from '../turn/request-admission.js';
import {
  MIN_WARMUP_TOKENS,
  type PrefixWarmup,
  type SharedPrefix,
  type WarmupTicket,
} from './prefix-warmup.js';
import type { PromptHeadManager } from './prompt-head-manager.js';

interface PrefixPolicyDeps {
  readonly prefixWarmup: PrefixWarmup;
  readonly history: History;
  readonly promptHead: Pick<PromptHeadManager, 'head' | 'headFor'>;
}

/**
 * Assumed cache lifetime in ms: shorter than that of the server, so that no request relies on an
 * entry that has just expired.
 */
const LIFETIME_MS: Readonly<Record<CacheTtl, number>> = { '5m': 280_000, '1h': 3_500_000 };

/** Prefix handling for any agent: an answered request keeps the prompt head warm. */
export const prefixPolicy =
  (deps: PrefixPolicyDeps): RequestAdmissionDeps['beforeRequest'] =>
  async (model) => ({ ...keepHeadWarm(deps, model), breakpoints: undefined, failed: () => {} });

/** Agents that one message starts. Each count includes this agent. */
export interface Siblings {
  /** Number of agents that share the start of their first message. */
  readonly sameStart: number;
  readonly all: number;
}

/** Prefix handling for a child: its first request waits for the shared prefix. */
export const childPrefixPolicy = (
  deps: PrefixPolicyDeps,
  siblings: () => Siblings,
): RequestAdmissionDeps['beforeRequest'] => {
  const defaultPolicy = prefixPolicy(deps);
  return async (model, signal, onWait) => {
    if (firstRequestFacts(deps, model) === undefined) return defaultPolicy?.(model, signal, onWait);
    const { sameStart, all } = siblings();
    const headTicket = await enterHeadWarmup(deps, { model, siblings: all }, signal, onWait);
    try {
      return await admitFirst(deps, { model, headTicket, sameStart }, signal, onWait);
    } catch (error) {
      headTicket.failed();
      throw error;
    }
  };
};

/**
 * Waits for the prompt head. Usually the lead has cached it; for another model one sibling of any
 * type writes it.
 */
const enterHeadWarmup = (
  deps: PrefixPolicyDeps,
  { model, siblings }: { readonly model: string; readonly siblings: number },
  signal: AbortSignal,
  onWait: OnWait,
): Promise<WarmupTicket> => {
  const { prefixWarmup, history, promptHead } = deps;
  const preamble = markedPreamble(deps, model);
  const uncachedTokens = tokensOfBytes(history.promptBytes + preamble.length);
  const lifetimeMs = LIFETIME_MS[promptHead.head.ttl];
  const key = headKey(deps, model);
  return prefixWarmup.enter({ key, uncachedTokens, siblings, lifetimeMs }, signal, onWait);
};

interface FirstRequestOptions {
  readonly model: string;
  readonly headTicket: WarmupTicket;
  readonly sameStart: number;
}

const admitFirst = async (
  deps: PrefixPolicyDeps,
  { model, headTicket, sameStart }: FirstRequestOptions,
  signal: AbortSignal,
  onWait: OnWait,
): Promise<RequestCaching | undefined> => {
  const first = firstRequestFacts(deps, model);
  if (first === undefined) return undefined;
  const head = keepHeadWarm(deps, model);
  const { history, prefixWarmup } = deps;
  const { key, uncachedTokens, ownTokens, lifetimeMs, isFork } = first;
  const isWorthIt = uncachedTokens >= MIN_WARMUP_TOKENS;
  // A child without siblings need not wait, and later children read the prefix that it writes.
  const isAlone = sameStart < 2 && !prefixWarmup.isWarm(key);
  const ticket = isAlone
    ? singleTicket(prefixWarmup, first, isWorthIt && !isFork)
    : await prefixWarmup.enter(
        { key, uncachedTokens, siblings: sameStart, lifetimeMs },
        signal,
        onWait,
      );
  const shared = ticket.hasBreakpoint;
  const own = shared || isAlone || ownTokens >= MIN_WARMUP_TOKENS;
  const unread = ownTokens + (prefixWarmup.isWarm(key) ? 0 : first.unreadTokens);
  return {
    breakpoints: firstBreakpoints(history.messages, { cached: history.cached.upTo, shared, own }),
    knownTokens: Math.max(0, history.tokens - unread),
    responseStarted() {
      head.responseStarted();
      ticket.responseStarted();
      headTicket.responseStarted();
    },
    failed() {
      ticket.failed();
      headTicket.failed();
    },
  };
};

type FirstRequestFacts = Omit<SharedPrefix, 'siblings'> & {
  /** Tokens of the shared prefix that no request of this process has cached. */
  readonly unreadTokens: number;
  readonly ownTokens: number;
  readonly isFork: boolean;
};

const singleTicket = (
  prefixWarmup: PrefixWarmup,
  { key, lifetimeMs }: FirstRequestFacts,
  hasBreakpoint: boolean,
) => ({
  hasBreakpoint,
  responseStarted: () => {
    if (hasBreakpoint) prefixWarmup.keepWarm(key, lifetimeMs);
  },
  failed: () => {},
});

/**
 * Returns facts about the first request. Returns undefined after the first answer, or if the
 * message has no shared part.
 */
const firstRequestFacts = (
  deps: PrefixPolicyDeps,
  model: string,
): FirstRequestFacts | undefined => {
  const { history, prefixWarmup } = deps;
  const { messages, turns, relations } = history;
  const newest = messages.at(-1);
  if (turns > 0 || newest?.sharedEnd === undefined) return undefined;
  const head = headKey(deps, model);
  const inherits = relations.origin?.inherits;
  const sharedBytes = newest.bytes.subarray(0, newest.sharedEnd);
  const start =
    inherits === undefined ? shapeDigest(sharedBytes) : `${inherits.agent} ${inherits.seq}`;
  const cold = tokensOfBytes(history.promptBytes + weightAfter(messages, null) + newest.sharedEnd);
  const { upTo } = history.cached;
  // The marked preamble is cached with the prompt head.
  const withHead = upTo === null ? markedPreamble(deps, model).length : 0;
  const warm = tokensOfBytes(weightAfter(messages, upTo) + newest.sharedEnd - withHead);
  const unreadTokens = prefixWarmup.isWarm(head) ? warm : cold;
  return {
    key: `${head} ${start}`,
    // Forks set the same breakpoints in every process (law 2), so this must not depend on local
    // cache state.
    uncachedTokens: inherits === undefined ? unreadTokens : warm,
    unreadTokens,
    ownTokens: tokensOfBytes(newest.bytes.length - newest.sharedEnd),
    lifetimeMs: LIFETIME_MS[deps.promptHead.head.ttl],
    isFork: inherits !== undefined,
  };
};

/** Returns the weight of the messages before the newest one that come after the cached part. */
const weightAfter = (messages: History['messages'], upTo: CachedUpTo | null): number => {
  const whole = upTo === null ? 0 : upTo.index + 1;
  const marked = upTo?.at === 'shared' ? messages[upTo.index] : undefined;
  const rest = marked === undefined ? 0 : marked.weight - (marked.sharedEnd ?? marked.weight);
  return messages.slice(whole, -1).reduce((sum, { weight }) => sum + weight, rest);
};

/** Identifies the prompt head and the preamble, which every request caches together. */
const headKey = (deps: PrefixPolicyDeps, model: string): string =>
  `${model} ${deps.history.prompt} ${preambleDigest(deps, model)}`;

const NO_PREAMBLE = Buffer.alloc(0);

/** Returns the bytes up to the breakpoint of the preamble; empty if it has none. */
const markedPreamble = ({ history, promptHead }: PrefixPolicyDeps, model: string): Buffer => {
  const [first] = history.messages;
  if (first?.preambleEnd === undefined) return NO_PREAMBLE;
  return promptHead.headFor(model).marksPreamble
    ? first.bytes.subarray(0, first.preambleEnd)
    : NO_PREAMBLE;
};

/** Digests by the bytes of the first message, which every request of an agent sends again. */
const digestOf = new WeakMap<Buffer, string>();

const preambleDigest = (deps: PrefixPolicyDeps, model: string): string => {
  const preamble = markedPreamble(deps, model);
  const [first] = deps.history.messages;
  if (first === undefined || preamble.length === 0) return '';
  const digest = digestOf.get(first.bytes) ?? shapeDigest(preamble);
  digestOf.set(first.bytes, digest);
  return digest;
};

const keepHeadWarm = (
  deps: PrefixPolicyDeps,
  model: string,
): Pick<RequestCaching, 'responseStarted'> => ({
  responseStarted: () =>
    deps.prefixWarmup.keepWarm(headKey(deps, model), LIFETIME_MS[deps.promptHead.head.ttl]),
});
