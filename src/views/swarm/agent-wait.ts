/** Why an agent waits: one reason, from its events and from whether a process runs it. */
import type { AgentFold } from './agent-fold.js';
import type { CallWait, OpenCall } from './open-calls-view.js';

/** Reasons that a person can act on come first. `child` is last, because a child has a reason of its own. */
export const WAIT_KINDS = [
  'permission',
  'worker',
  'lock',
  'budget',
  'rate-limit',
  'retry',
  'requests',
  'warming',
  'place',
  'model',
  'unknown',
  'child',
] as const;
/**
 * `permission`: a person's answer. `child`: children of the agent. `model`: a request was sent and has not ended.
 * `lock`: another agent's lock on the working tree. `retry`: the delay after a failure. `place`: a concurrency
 * slot. The other kinds are reasons why a request is not sent yet.
 */
export type WaitKind = (typeof WAIT_KINDS)[number];

export interface AgentWait {
  readonly kind: WaitKind;
  /**
   * The question, the failure, the refusal of a worker, the tree, the model, or the name of the first
   * agent. Not sanitised for terminals.
   */
  readonly detail: string | null;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Ids of awaited children, or of the lock's holder. At most MAX_NAMED_AGENTS. */
  readonly agents: readonly string[];
  /** Number of awaited questions or agents. 1 for all other kinds. */
  readonly count: number;
}

/** Returns an agent of the swarm by id or name. */
export type FindAgent = (address: string) => AgentFold | undefined;

const MAX_NAMED_AGENTS = 5;

/** Returns the wait of an agent whose process is alive: it runs or is idle. */
export const waitOfRunning = (agent: AgentFold, find: FindAgent): AgentWait | null => {
  const { state, phaseSince: since, failure, model } = agent;
  switch (state) {
    case 'waiting':
      return simpleWait(agent.waitsFor ?? 'unknown', null, since);
    case 'retrying':
      return failure?.kind === 'rate-limited'
        ? simpleWait('rate-limit', failure.message, since)
        : simpleWait('retry', failure?.message ?? null, since);
    case 'streaming':
    case 'compacting':
      return agent.hasOpenRequest ? simpleWait('model', model, since) : null;
    case 'awaiting-permission':
      return permissionWait(agent);
    case 'tool-running':
      return waitOfCalls(agent, find);
    case 'idle':
      return lockWait(agent) ?? childWait([...agent.pendingChildren], since, find);
    default:
      return null;
  }
};

/** Returns the wait of a queued agent. `isForWorker`: the job queue holds it. */
export const waitOfQueued = (agent: AgentFold, isForWorker: boolean): AgentWait | null => {
  const { awaits, refusal, phaseSince: since } = agent;
  const ahead = lockWait(agent);
  if (ahead !== null) return ahead;
  if (isForWorker || awaits === 'worker') return simpleWait('worker', refusal, since);
  return awaits === null ? null : simpleWait(awaits, null, since);
};

/** Returns the wait of an ended agent, whose merge may wait for a lock. */
export const waitOfEnded = (agent: AgentFold): AgentWait | null => lockWait(agent);

const simpleWait = (kind: WaitKind, detail: string | null, since: number): AgentWait => {
  return { kind, detail, since, agents: [], count: 1 };
};

const permissionWait = ({ calls: { questions } }: AgentFold): AgentWait | null => {
  const [first] = questions.values();
  if (first === undefined) return null;
  const { description, since } = first;
  return { kind: 'permission', detail: description, since, agents: [], count: questions.size };
};

const lockWait = ({ lock }: AgentFold): AgentWait | null => {
  if (lock === null) return null;
  const { place, holder, since } = lock;
  return { kind: 'lock', detail: place, since, agents: holder === null ? [] : [holder], count: 1 };
};

/** Returns null if any call works itself. */
const waitOfCalls = (agent: AgentFold, find: FindAgent): AgentWait | null => {
  const { running, waits } = agent.calls;
  const awaited: string[] = [];
  let since = Number.POSITIVE_INFINITY;
  let modelWait: CallWait | undefined;
  for (const call of running.values()) {
    const wait = waits.get(call.call);
    const children = wait === undefined ? childrenOf(agent, call, find) : [];
    if (wait === undefined && children.length === 0) return null;
    modelWait ??= wait;
    awaited.push(...children);
    since = Math.min(since, call.since);
  }
  if (running.size === 0) return null;
  const permission = permissionWait(agent);
  if (permission !== null) return permission;
  if (modelWait !== undefined) return simpleWait(modelWait.why ?? 'unknown', null, modelWait.since);
  return childWait(awaited, since, find);
};

/** Returns the agents that a Task or TaskOutput call waits for. */
const childrenOf = (
  { calls }: AgentFold,
  { call, tool, description }: OpenCall,
  find: FindAgent,
): readonly string[] => {
  if (tool === 'Task') return calls.children.get(call) ?? [];
  if (tool !== 'TaskOutput') return [];
  const awaited = find(description.slice('TaskOutput '.length));
  return awaited === undefined ? [] : [awaited.id];
};

const childWait = (
  children: readonly string[],
  since: number,
  find: FindAgent,
): AgentWait | null => {
  const [first] = children;
  if (first === undefined) return null;
  const { name, type, kind } = find(first)?.identity ?? { name: null, type: null, kind: first };
  const agents = children.slice(0, MAX_NAMED_AGENTS);
  return { kind: 'child', detail: name ?? type ?? kind, since, agents, count: children.length };
};
