/** How far a swarm is, in figures for one line. Pure: time is passed in, so that a replay can ask too. */
import type { AgentView } from './agent-view.js';
import { WAIT_KINDS, type WaitKind } from './agent-wait.js';
import type { BudgetLeft } from './swarm-budget.js';
import type { Rate } from './swarm-throughput.js';
import type { SwarmView } from './swarm-view.js';

/** Every agent is counted in one of the first eight. */
export interface Progress {
  /** Ended by themselves. */
  readonly done: number;
  /** Doing something, or being answered by a model. */
  readonly running: number;
  /** At work, and kept from it. */
  readonly waiting: number;
  /** Not begun yet, or not again. */
  readonly queued: number;
  /** With nothing to do until somebody writes to them. */
  readonly resting: number;
  /** Ended by a limit or a failure. */
  readonly failed: number;
  /** Stopped by a person. */
  readonly stopped: number;
  /** Not ended, and nobody runs them. */
  readonly lost: number;
  /** How many wait for what, those that are queued included. */
  readonly waits: ReadonlyMap<WaitKind, number>;
  /** What most of those that wait wait for, their own agents aside; null when none waits. */
  readonly mainWait: WaitKind | null;
  /** USD; null when a price is not known. */
  readonly costUsd: number | null;
  readonly tokens: number;
  readonly budget: BudgetLeft;
  readonly rate: Rate;
}

export const progressOf = (
  { agents, budget, pace }: Pick<SwarmView, 'agents' | 'budget' | 'pace'>,
  now: number,
): Progress => {
  const counts: Record<Place, number> = {
    done: 0,
    running: 0,
    waiting: 0,
    queued: 0,
    resting: 0,
    failed: 0,
    stopped: 0,
    lost: 0,
  };
  const waits = new Map<WaitKind, number>();
  let costUsd: number | null = 0;
  let tokens = 0;
  for (const agent of agents) {
    const place = placeOf(agent);
    counts[place] += 1;
    const isKept = place === 'waiting' || place === 'queued';
    if (isKept && agent.wait !== null) {
      waits.set(agent.wait.kind, (waits.get(agent.wait.kind) ?? 0) + 1);
    }
    costUsd = costUsd === null || agent.costUsd === null ? null : costUsd + agent.costUsd;
    tokens += agent.inputTokens + agent.outputTokens;
  }
  return {
    ...counts,
    waits,
    mainWait: mainOf(waits),
    costUsd,
    tokens,
    budget: budget ?? { usd: null, tokens: null },
    rate: pace?.at(now) ?? { turnsPerMinute: 0, tokensPerMinute: 0, usdPerMinute: 0 },
  };
};

type Place = 'done' | 'running' | 'waiting' | 'queued' | 'resting' | 'failed' | 'stopped' | 'lost';

/** Which of the figures an agent is counted in. */
export const placeOf = ({ status, state, wait, stop }: AgentView): Place => {
  if (status === 'ended') return ended(stop?.reason ?? 'end_turn');
  if (status !== 'running' && status !== 'idle') return status;
  if (wait !== null) return wait.kind === 'model' ? 'running' : 'waiting';
  return state === 'idle' ? 'resting' : 'running';
};

const ended = (reason: string): Place => {
  if (reason === 'end_turn') return 'done';
  return reason === 'interrupted' ? 'stopped' : 'failed';
};

/** A child has a reason of its own to wait, or works: it explains nothing. */
const mainOf = (waits: ReadonlyMap<WaitKind, number>): WaitKind | null => {
  let main: WaitKind | null = null;
  // In the order of what a person can do about it.
  for (const kind of WAIT_KINDS) {
    const many = waits.get(kind) ?? 0;
    if (many === 0 || (kind === 'child' && main !== null)) continue;
    if (main === null || many > (waits.get(main) ?? 0)) main = kind;
  }
  return main;
};
