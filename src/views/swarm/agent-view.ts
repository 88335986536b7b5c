/** View of one agent now: its folded events, and whether a process runs it. */

import type { ChildKind } from '../../protocol/agent/agent-tag.js';
import type { ChildStatus } from '../../protocol/agent/agents.js';
import type { WaitReason } from '../../protocol/model/governor.js';
import { windowTokens } from '../../protocol/model/usage.js';
import { cacheReadPercent } from '../cost/cache-read-percent.js';
import type { AgentFold, ObservedState } from './agent-fold.js';
import {
  type AgentWait,
  type FindAgent,
  waitOfEnded,
  waitOfQueued,
  waitOfRunning,
} from './agent-wait.js';
import type { OpenCall, OpenQuestionView } from './open-calls-view.js';

export interface AgentView {
  readonly id: string;
  readonly name: string | null;
  readonly kind: 'lead' | ChildKind;
  /** Name of the agent's definition. Null for the lead and for forks. */
  readonly type: string | null;
  readonly parent: string | null;
  readonly depth: number;
  readonly description: string;
  readonly model: string | null;
  readonly status: ChildStatus;
  readonly state: ObservedState | 'lost';
  /** Why the next request waits. Null unless the state is `waiting`. */
  readonly waitsFor: WaitReason | null;
  /** Why the agent waits. Null if it makes progress or has no work. */
  readonly wait: AgentWait | null;
  /** Worker that runs the agent or its nearest handed-over ancestor. Null if the lead's process runs it. */
  readonly worker: string | null;
  /** Why the last worker could not run the agent. Null unless the status is `queued`. */
  readonly refusal: string | null;
  /** True if the agent's worker has died, and it waits for another worker. */
  readonly hasLostWorker: boolean;
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Percentage of input tokens read from the cache. Null before the first answer. */
  readonly cacheReadPercent: number | null;
  /** USD of the agent's own requests. Null if a price is unknown. */
  readonly costUsd: number | null;
  /** Approximate size of the next prompt. Null before the first request. */
  readonly contextTokens: number | null;
  readonly calls: readonly OpenCall[];
  readonly questions: readonly OpenQuestionView[];
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly lastActiveAt: number;
  readonly endedAt: number | null;
  /** Last sign of life of the process that ran the agent. Null unless the status is `lost`. */
  readonly lostAt: number | null;
  /** End of the last run. Null while a run is in progress. */
  readonly stop: { readonly reason: string; readonly detail: string | null } | null;
}

/** Facts about an agent that its own events do not contain. */
export interface AgentLiveness {
  readonly isLead: boolean;
  /** True if the process that holds the session runs the agent. */
  readonly isInHolderProcess: boolean;
  /** Null while the agent waits for a worker. Undefined if workers do not run the agent. */
  readonly worker: string | null | undefined;
  /** Last sign of life of the process that ran the agent, milliseconds since 1970. */
  readonly lastSign: number;
}

export const agentView = (
  agent: AgentFold,
  liveness: AgentLiveness,
  find: FindAgent,
): AgentView => {
  const { id, parent, identity, model, since, lastActiveAt } = agent;
  const { turns, usage, cost, contextTokens } = agent.figures;
  const { name, kind, type, depth, description } = identity;
  const status = statusOf(agent, liveness);
  const isLeft = status === 'lost' || status === 'queued';
  const isOver = isLeft || status === 'ended' || status === 'stopped';
  const read = windowTokens(usage) - usage.output;
  // One literal, because spreads are slow and screens need thousands of views per second.
  return {
    id,
    name,
    kind,
    type,
    parent,
    depth,
    description,
    model,
    status,
    state: isLeft ? status : isOver ? 'stopped' : agent.state,
    waitsFor: isOver ? null : agent.waitsFor,
    wait: waitOf(agent, status, liveness, find),
    worker: isOver ? null : (liveness.worker ?? null),
    refusal: status === 'queued' ? agent.refusal : null,
    hasLostWorker: status === 'queued' && liveness.worker === null && agent.state !== 'queued',
    turns,
    inputTokens: read,
    outputTokens: usage.output,
    cacheReadPercent: cacheReadPercent(usage.cacheRead, read),
    costUsd: cost,
    contextTokens,
    calls: isOver ? [] : [...agent.calls.running.values()],
    questions: isOver ? [] : [...agent.calls.questions.values()],
    since,
    lastActiveAt,
    endedAt: agent.endedAt,
    lostAt: status === 'lost' ? Math.max(lastActiveAt, liveness.lastSign) : null,
    stop: agent.stop,
  };
};

const waitOf = (
  agent: AgentFold,
  status: ChildStatus,
  { isInHolderProcess, worker }: AgentLiveness,
  find: FindAgent,
): AgentWait | null => {
  if (status === 'running' || status === 'idle') return waitOfRunning(agent, find);
  if (status === 'queued') return waitOfQueued(agent, worker === null);
  const isHeld = worker === undefined ? isInHolderProcess : worker !== null;
  return status !== 'lost' && isHeld ? waitOfEnded(agent) : null;
};

const statusOf = (
  agent: AgentFold,
  { isLead, isInHolderProcess, worker }: AgentLiveness,
): ChildStatus => {
  if (agent.state === 'stopped') return agent.stop?.reason === 'stopped' ? 'stopped' : 'ended';
  if (worker === null) return 'queued';
  const isHeld = worker === undefined ? isInHolderProcess : true;
  const isTeammate = agent.identity.kind === 'teammate';
  if (!isHeld) return (isLead || isTeammate) && agent.isIdle ? 'ended' : 'lost';
  if (isTeammate && agent.isIdle) return 'idle';
  return agent.state === 'queued' ? 'queued' : 'running';
};
