/** Swarm totals: agents by group, cost, remaining budget and rates over all swarms of a screen. */
import { swarmProgress } from '../../views/swarm/swarm-progress.js';
import type { SwarmView } from '../../views/swarm/swarm-view.js';
import { groupOf } from './table/agent-group.js';

export interface SwarmTotals {
  readonly agents: number;
  readonly running: number;
  readonly waiting: number;
  readonly asking: number;
  readonly failed: number;
  readonly idle: number;
  readonly done: number;
  /** USD; null if a price is unknown. */
  readonly costUsd: number | null;
  /** USD; null if there is no limit. */
  readonly leftUsd: number | null;
  readonly leftTokens: number | null;
  readonly turnsPerMinute: number;
  readonly usdPerMinute: number | null;
}

export const swarmTotals = (swarms: readonly SwarmView[], now: number): SwarmTotals => {
  const counts = { asking: 0, failed: 0, waiting: 0, running: 0, idle: 0, done: 0 };
  for (const { agents } of swarms) for (const agent of agents) counts[groupOf(agent)] += 1;
  const all = swarms.map((swarm) => swarmProgress(swarm, now));
  return {
    ...counts,
    agents: swarms.reduce((sum, { agents }) => sum + agents.length, 0),
    costUsd: sumOf(all.map(({ costUsd }) => costUsd)),
    leftUsd: sumOfKnown(all.map(({ budget }) => budget.usd)),
    leftTokens: sumOfKnown(all.map(({ budget }) => budget.tokens)),
    turnsPerMinute: all.reduce((sum, { rate }) => sum + rate.turnsPerMinute, 0),
    usdPerMinute: sumOf(all.map(({ rate }) => rate.usdPerMinute)),
  };
};

/** Returns null if any amount is null. */
const sumOf = (amounts: readonly (number | null)[]): number | null =>
  amounts.reduce((sum, amount) => (sum === null || amount === null ? null : sum + amount), 0);

/** Returns the sum of the known amounts; null if all are null. */
const sumOfKnown = (amounts: readonly (number | null)[]): number | null =>
  amounts.reduce((sum, amount) => (amount === null ? sum : (sum ?? 0) + amount), null);
