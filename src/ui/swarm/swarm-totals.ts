/** How far all swarms of a screen are, in figures for one line. */
import { progressOf } from '../../sdk/swarm-progress.js';
import type { SwarmView } from '../../sdk/swarm-view.js';
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
    leftUsd: all.length === 0 ? null : sumOf(all.map(({ budget }) => budget.usd)),
    turnsPerMinute: all.reduce((sum, { rate }) => sum + rate.turnsPerMinute, 0),
    usdPerMinute: sumOf(all.map(({ rate }) => rate.usdPerMinute)),
  };
};

/** Null when one of them is. */
const sumOf = (amounts: readonly (number | null)[]): number | null =>
  amounts.reduce((sum, amount) => (sum === null || amount === null ? null : sum + amount), 0);
