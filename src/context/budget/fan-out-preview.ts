/**
 * Cost preview of a fan-out: several agents that share a prefix, as a range from least to most. The
 * shared prefix is written to the cache once and then read; each turn of an agent writes its new
 * messages once and the next turn reads them.
 */

import type { SpawnPreview } from '../../protocol/agent/agents.js';
import { modelFacts } from '../../protocol/model/model-facts.js';
import { requestCost } from '../../protocol/model/request-cost.js';
import { NO_USAGE, type Usage } from '../../protocol/model/usage.js';

/** Least and most. */
export type Range = readonly [number, number];

/** Typical usage of an agent. */
interface UsageProfile {
  readonly turns: Range;
  readonly outputPerTurn: Range;
  /** Tokens of tool results. */
  readonly resultTokensPerTurn: number;
  /** Number of ended agents behind these figures; 0 for a guess. */
  readonly observed: number;
}

export interface FanOut extends Omit<UsageProfile, 'observed'> {
  readonly count: number;
  readonly model: string;
  /** Tokens of the shared prefix. */
  readonly prefixTokens: number;
  /** Part of `prefixTokens` that the server has cached already. */
  readonly cachedTokens: number;
  /** Tokens of the first prompt that an agent does not share. */
  readonly ownTokens: number;
  readonly observed?: number;
}

/** Figures of an ended agent: answers, output, and growth of its prompt. */
export interface EndedAgent {
  readonly turns: number;
  readonly outputTokens: number;
  readonly grownTokens: number;
}

/** Guess for an agent that looks up a fact and reports. */
const USUAL: UsageProfile = {
  turns: [2, 12],
  outputPerTurn: [150, 900],
  resultTokensPerTurn: 1_500,
  observed: 0,
};

/** Maximum turns to simulate, because a person waits for the preview. */
const MAX_TURNS = 1_000;

/**
 * Derives a profile from the ended agents of a session. Without ended agents it returns a guess.
 */
export const usageProfile = (ended: readonly EndedAgent[]): UsageProfile => {
  const worked = ended.filter(({ turns }) => turns > 0);
  if (worked.length === 0) return USUAL;
  const output = worked.map(({ outputTokens, turns }) => outputTokens / turns);
  const grown = worked.reduce((sum, { grownTokens }) => sum + grownTokens, 0);
  const answered = worked.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  // The last answer of an agent has no tool results after it.
  const steps = worked.reduce((sum, { turns }) => sum + turns - 1, 0);
  return {
    turns: rangeOf(worked.map((agent) => agent.turns)),
    outputPerTurn: rangeOf(output),
    resultTokensPerTurn: steps === 0 ? 0 : Math.max(0, Math.round((grown - answered) / steps)),
    observed: worked.length,
  };
};

/** Returns undefined if the price of the model is unknown. */
export const fanOutPreview = (fanOut: FanOut): SpawnPreview | undefined => {
  if (modelFacts(fanOut.model) === undefined) return undefined;
  const min = swarmCost(fanOut, 0);
  const max = swarmCost(fanOut, 1);
  return {
    count: fanOut.count,
    model: fanOut.model,
    observed: fanOut.observed ?? 0,
    withCache: [min.cached, max.cached],
    withoutCache: [min.plain, max.plain],
  };
};

interface Costs {
  readonly cached: number;
  readonly plain: number;
}

/** Returns the cost of all agents: the first agent writes the shared prefix, the others read it. */
const swarmCost = (fanOut: FanOut, end: 0 | 1): Costs => {
  const count = Math.max(0, Math.floor(fanOut.count));
  if (count === 0) return { cached: 0, plain: 0 };
  const first = agentCost(fanOut, fanOut.cachedTokens, end);
  const later = agentCost(fanOut, fanOut.prefixTokens, end);
  return {
    cached: first.cached + (count - 1) * later.cached,
    plain: first.plain + (count - 1) * later.plain,
  };
};

/** `cachedTokens` are the tokens of the first prompt that are cached when the agent starts. */
const agentCost = (fanOut: FanOut, cachedTokens: number, end: 0 | 1): Costs => {
  const { model, prefixTokens, ownTokens, resultTokensPerTurn } = fanOut;
  const minimum = modelFacts(model)?.minimumCacheableTokens ?? 0;
  const turns = Math.min(MAX_TURNS, Math.max(1, Math.round(fanOut.turns[end])));
  const output = Math.max(0, fanOut.outputPerTurn[end]);
  let prompt = prefixTokens + ownTokens;
  let read = Math.min(cachedTokens, prefixTokens);
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

const priceOf = (model: string, usage: Usage): number => requestCost(model, usage) ?? 0;

const rangeOf = (numbers: readonly number[]): Range => [Math.min(...numbers), Math.max(...numbers)];
