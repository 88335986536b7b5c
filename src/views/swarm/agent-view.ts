/** One agent of a swarm as people see it now: what its events tell, and whether anybody works on it. */

import type { ChildKind, ChildStatus } from '../../protocol/agent/swarm.js';
import type { WaitReason } from '../../protocol/model/queueing.js';
import { windowTokens } from '../../protocol/model/usage.js';
import { cacheReadPercent } from '../cost/cache-share.js';
import type { AgentFold, ObservedState } from './agent-fold.js';
import {
  type AgentWait,
  type FindAgent,
  waitOfEnded,
  waitOfQueued,
  waitOfWorking,
} from './agent-wait.js';
import type { SeenCall, SeenQuestion } from './open-calls-view.js';

export interface AgentView {
  readonly id: string;
  readonly name: string | null;
  readonly kind: 'lead' | ChildKind;
  /** Its definition; null for the lead and for a fork. */
  readonly type: string | null;
  readonly parent: string | null;
  readonly depth: number;
  readonly description: string;
  readonly model: string | null;
  readonly status: ChildStatus;
  readonly state: ObservedState | 'lost';
  /** What its next request waits for; null unless its state is `waiting`. */
  readonly waitsFor: WaitReason | null;
  /** Why it does not get on by itself; null while it does, and when there is nothing to get on with. */
  readonly wait: AgentWait | null;
  /** The worker that has it, or the one that it works for; null where the process of its lead does. */
  readonly worker: string | null;
  /** Why the worker that was given it last could not work on it; null unless its status is `queued`. */
  readonly refusal: string | null;
  /** It was at work on a worker that is gone, and waits for another one. */
  readonly hasLostWorker: boolean;
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of everything that was read; null before the first answer. */
  readonly cacheReadPercent: number | null;
  /** USD, of its own requests; null when a price is not known. */
  readonly costUsd: number | null;
  /** Of its next prompt, about: what was last counted or sent; null before its first request. */
  readonly contextTokens: number | null;
  readonly calls: readonly SeenCall[];
  readonly questions: readonly SeenQuestion[];
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly lastActiveAt: number;
  readonly endedAt: number | null;
  /** Until when whoever ran it was seen to live; null unless its status is `lost`. */
  readonly lostAt: number | null;
  /** How its last run ended, while no other is under way. */
  readonly stop: { readonly reason: string; readonly detail: string | null } | null;
}

/** What its own events do not tell. */
export interface Standing {
  readonly isLead: boolean;
  /** The process that has the session has taken it up. */
  readonly isHere: boolean;
  /** Null while no worker has it, undefined for one that none takes. */
  readonly worker: string | null | undefined;
  /** Of its swarm, from whoever ran it last. */
  readonly lastSign: number;
}

export const viewOfAgent = (agent: AgentFold, standing: Standing, find: FindAgent): AgentView => {
  const { id, parent, identity, model, since, lastActiveAt } = agent;
  const { turns, usage, cost, contextTokens } = agent.figures;
  const { name, kind, type, depth, description } = identity;
  const status = statusOf(agent, standing);
  const isLeft = status === 'lost' || status === 'queued';
  const isOver = isLeft || status === 'ended' || status === 'stopped';
  const read = windowTokens(usage) - usage.output;
  // One literal: objects put together from pieces are slow to make, and screens ask for thousands a second.
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
    wait: waitOf(agent, status, standing, find),
    worker: isOver ? null : (standing.worker ?? null),
    refusal: status === 'queued' ? agent.refusal : null,
    hasLostWorker: status === 'queued' && standing.worker === null && agent.state !== 'queued',
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
    lostAt: status === 'lost' ? Math.max(lastActiveAt, standing.lastSign) : null,
    stop: agent.stop,
  };
};

const waitOf = (
  agent: AgentFold,
  status: ChildStatus,
  { isHere, worker }: Standing,
  find: FindAgent,
): AgentWait | null => {
  if (status === 'running' || status === 'idle') return waitOfWorking(agent, find);
  if (status === 'queued') return waitOfQueued(agent, worker === null);
  const isHeld = worker === undefined ? isHere : worker !== null;
  return status !== 'lost' && isHeld ? waitOfEnded(agent) : null;
};

const statusOf = (agent: AgentFold, { isLead, isHere, worker }: Standing): ChildStatus => {
  if (agent.state === 'stopped') return agent.stop?.reason === 'stopped' ? 'stopped' : 'ended';
  if (worker === null) return 'queued';
  const isHeld = worker === undefined ? isHere : true;
  const isTeammate = agent.identity.kind === 'teammate';
  if (!isHeld) return (isLead || isTeammate) && agent.isResting ? 'ended' : 'lost';
  if (isTeammate && agent.isResting) return 'idle';
  return agent.state === 'queued' ? 'queued' : 'running';
};
