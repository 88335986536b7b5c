/** How far all swarms of a screen are, in figures for one line. */
import { progressOf } from '../../views/swarm/swarm-progress.js';
import type { SwarmView } from '../../views/swarm/swarm-view.js';
import { groupOf } from './agent-group.js';

export interface Totals {
  readonly agents: number;
  readonly running: number;
  readonly waiting: number;
  readonly asking: number;
  readonly failed: number;
  readonly idle: number;
  readonly done: number;
  /** USD; null when a price is not known. */
  readonly costUsd: number | null;
  /** USD; null where there is no limit. */
  readonly leftUsd: number | null;
  readonly leftTokens: number | null;
  readonly turnsPerMinute: number;
  readonly usdPerMinute: number | null;
}

export const totalsOf = (swarms: readonly SwarmView[], now: number): Totals => {
  const counts = { asking: 0, failed: 0, waiting: 0, running: 0, idle: 0, done: 0 };
  for (const { agents } of swarms) for (const agent of agents) counts[groupOf(agent)] += 1;
  const all = swarms.map((swarm) => progressOf(swarm, now));
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

/** Null when one of them is. */
const sumOf = (amounts: readonly (number | null)[]): number | null =>
  amounts.reduce((sum, amount) => (sum === null || amount === null ? null : sum + amount), 0);

/** Null when all of them are: one without a limit takes nothing from what the others have left. */
const sumOfKnown = (amounts: readonly (number | null)[]): number | null =>
  amounts.reduce((sum, amount) => (amount === null ? sum : (sum ?? 0) + amount), null);
