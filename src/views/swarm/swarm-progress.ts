/** Progress of a swarm in numbers. Time is an argument, so that a replay can use it too. */
import type { AgentView } from './agent-view.js';
import { WAIT_KINDS, type WaitKind } from './agent-wait.js';
import type { RemainingBudget } from './swarm-budget.js';
import type { Throughput } from './swarm-throughput.js';
import type { SwarmView } from './swarm-view.js';

/** Each agent is counted in exactly one of the first eight fields. */
interface SwarmProgress {
  /** Agents that ended by themselves. */
  readonly done: number;
  /** Agents that work, or wait for the model's answer. */
  readonly running: number;
  /** Agents that run and wait. */
  readonly waiting: number;
  /** Agents that wait for a slot or a worker. */
  readonly queued: number;
  /** Agents that are idle until a letter arrives. */
  readonly resting: number;
  /** Agents ended by a limit or a failure. */
  readonly failed: number;
  /** Agents stopped by a person. */
  readonly stopped: number;
  /** Agents that have not ended, and that no process runs. */
  readonly lost: number;
  /** Number of waiting and queued agents by reason. */
  readonly waits: ReadonlyMap<WaitKind, number>;
  /** Most frequent wait reason. `child` only if there is no other. Null if no agent waits. */
  readonly mainWait: WaitKind | null;
  /** USD. Null if a price is unknown. */
  readonly costUsd: number | null;
  readonly tokens: number;
  readonly budget: RemainingBudget;
  readonly rate: Throughput;
}

export const swarmProgress = (
  { agents, budget, throughput }: Pick<SwarmView, 'agents' | 'budget' | 'throughput'>,
  now: number,
): SwarmProgress => {
  const counts: Record<ProgressGroup, number> = {
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
    const group = progressGroup(agent);
    counts[group] += 1;
    const isWaiting = group === 'waiting' || group === 'queued';
    if (isWaiting && agent.wait !== null) {
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
    rate: throughput?.at(now) ?? { turnsPerMinute: 0, tokensPerMinute: 0, usdPerMinute: 0 },
  };
};

type ProgressGroup =
  | 'done'
  | 'running'
  | 'waiting'
  | 'queued'
  | 'resting'
  | 'failed'
  | 'stopped'
  | 'lost';

/** Returns the field of SwarmProgress that counts the agent. */
export const progressGroup = ({ status, state, wait, stop }: AgentView): ProgressGroup => {
  if (status === 'ended') return ended(stop?.reason ?? 'end_turn');
  if (status !== 'running' && status !== 'idle') return status;
  if (wait !== null) return wait.kind === 'model' ? 'running' : 'waiting';
  return state === 'idle' ? 'resting' : 'running';
};

const ended = (reason: string): ProgressGroup => {
  if (reason === 'end_turn') return 'done';
  return reason === 'interrupted' ? 'stopped' : 'failed';
};

/** `child` counts last, because the awaited child runs or has a wait reason of its own. */
const mainOf = (waits: ReadonlyMap<WaitKind, number>): WaitKind | null => {
  let main: WaitKind | null = null;
  // WAIT_KINDS starts with the reasons that a person can act on.
  for (const kind of WAIT_KINDS) {
    const count = waits.get(kind) ?? 0;
    if (count === 0 || (kind === 'child' && main !== null)) continue;
    if (main === null || count > (waits.get(main) ?? 0)) main = kind;
  }
  return main;
};
