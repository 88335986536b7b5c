/**
 * What a fan-out would cost, before it is paid for: so many agents that share a prefix, from the
 * least to the most that is likely. Whatever they share is written to the cache once and read after
 * that; what each adds to its own conversation is written once and read by its next turn.
 */

import type { SpawnPreview } from '../../protocol/agent/swarm.js';
import { costOf, modelFacts } from '../../protocol/model/prices.js';
import { NO_USAGE, type Usage } from '../../protocol/model/usage.js';

/** From the least to the most. */
export type Range = readonly [number, number];

/** How long agents work, and how much they say and read. */
export interface Habits {
  readonly turns: Range;
  readonly outputPerTurn: Range;
  /** Tokens that come back from tools. */
  readonly resultTokensPerTurn: number;
  /** Agents that were looked at; 0: nobody has ended yet, so these are guesses. */
  readonly observed: number;
}

export interface FanOut extends Omit<Habits, 'observed'> {
  readonly count: number;
  readonly model: string;
  /** What they all begin with, and how much of that the server has in its cache already. */
  readonly prefixTokens: number;
  readonly cachedTokens: number;
  /** What each begins with alone. */
  readonly ownTokens: number;
  readonly observed?: number;
}

/** An agent that has ended: its answers, what they held, and by how much its prompt grew. */
export interface EndedAgent {
  readonly turns: number;
  readonly outputTokens: number;
  readonly grownTokens: number;
}

/** Of an agent that looks something up and reports: no promise, and said to be none. */
const USUAL: Habits = {
  turns: [2, 12],
  outputPerTurn: [150, 900],
  resultTokensPerTurn: 1_500,
  observed: 0,
};

/** A preview is for people who wait for it: nobody plans for more turns than this. */
const MOST_TURNS = 1_000;

/** What the agents of a session that have ended were like, or what agents usually are. */
export const habitsOf = (ended: readonly EndedAgent[]): Habits => {
  const worked = ended.filter(({ turns }) => turns > 0);
  if (worked.length === 0) return USUAL;
  const output = worked.map(({ outputTokens, turns }) => outputTokens / turns);
  const grown = worked.reduce((sum, { grownTokens }) => sum + grownTokens, 0);
  const said = worked.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  // After its last answer nothing comes back.
  const steps = worked.reduce((sum, { turns }) => sum + turns - 1, 0);
  return {
    turns: rangeOf(worked.map((one) => one.turns)),
    outputPerTurn: rangeOf(output),
    resultTokensPerTurn: steps === 0 ? 0 : Math.max(0, Math.round((grown - said) / steps)),
    observed: worked.length,
  };
};

/** Undefined when the price of the model is not known. */
export const fanOutPreview = (fanOut: FanOut): SpawnPreview | undefined => {
  if (modelFacts(fanOut.model) === undefined) return undefined;
  const least = swarmCost(fanOut, 0);
  const most = swarmCost(fanOut, 1);
  return {
    count: fanOut.count,
    model: fanOut.model,
    observed: fanOut.observed ?? 0,
    withCache: [least.cached, most.cached],
    withoutCache: [least.plain, most.plain],
  };
};

interface Costs {
  readonly cached: number;
  readonly plain: number;
}

/** The first writes what they share, the others read it. */
const swarmCost = (fanOut: FanOut, end: 0 | 1): Costs => {
  const count = Math.max(0, Math.floor(fanOut.count));
  if (count === 0) return { cached: 0, plain: 0 };
  const first = agentCost(fanOut, fanOut.cachedTokens, end);
  const other = agentCost(fanOut, fanOut.prefixTokens, end);
  return {
    cached: first.cached + (count - 1) * other.cached,
    plain: first.plain + (count - 1) * other.plain,
  };
};

/** `known` of its first prompt is in the cache when it begins. */
const agentCost = (fanOut: FanOut, known: number, end: 0 | 1): Costs => {
  const { model, prefixTokens, ownTokens, resultTokensPerTurn } = fanOut;
  const minimum = modelFacts(model)?.minimumCacheableTokens ?? 0;
  const turns = Math.min(MOST_TURNS, Math.max(1, Math.round(fanOut.turns[end])));
  const output = Math.max(0, fanOut.outputPerTurn[end]);
  let prompt = prefixTokens + ownTokens;
  let read = Math.min(known, prefixTokens);
  let cached = 0;
  let plain = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    const isCacheable = prompt >= minimum;
    if (read < minimum) read = 0;
    const split = isCacheable
      ? { cacheRead: read, cacheWrite5m: prompt - read }
      : { input: prompt };
    cached += priceOf(model, { ...NO_USAGE, ...split, output });
    plain += priceOf(model, { ...NO_USAGE, input: prompt, output });
    read = isCacheable ? prompt : 0;
    prompt += output + resultTokensPerTurn;
  }
  return { cached, plain };
};

const priceOf = (model: string, usage: Usage): number => costOf(model, usage) ?? 0;

const rangeOf = (numbers: readonly number[]): Range => [Math.min(...numbers), Math.max(...numbers)];
