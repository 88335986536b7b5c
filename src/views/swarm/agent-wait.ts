/** Why an agent waits: one answer, from its events and from whether anybody works on it. */
import type { AgentFold } from './agent-fold.js';
import type { CallHold, SeenCall } from './open-calls-view.js';

/** What a person can do something about comes first; a child has reasons of its own, so it comes last. */
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
 * `permission`: an answer of a person. `child`: agents of its own. `model`: a request is out, and nothing is
 * told before it is answered. `lock`: another agent that is merged into the same tree. `retry`: the pause
 * after a failure. `place`: one of those that may work at once. The rest is why a request does not leave.
 */
export type WaitKind = (typeof WAIT_KINDS)[number];

export interface AgentWait {
  readonly kind: WaitKind;
  /**
   * Words from outside, not fit for a terminal as they are: the question, the failure, the refusal of a
   * worker, the tree, the model, or how the first of the agents is called.
   */
  readonly detail: string | null;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Whom it waits for, some of them: its own agents, or the one that holds the lock. */
  readonly agents: readonly string[];
  /** How many questions or agents it waits for; 1 of anything else. */
  readonly count: number;
}

/** Another agent of the swarm, by its id or name. */
export type FindAgent = (address: string) => AgentFold | undefined;

/** So many are named. */
const MOST_NAMED = 5;

/** Of one that somebody works on: it runs, or rests. */
export const waitOfWorking = (agent: AgentFold, find: FindAgent): AgentWait | null => {
  const { state, phaseSince: since, failure, model } = agent;
  switch (state) {
    case 'waiting':
      return plain(agent.waitsFor ?? 'unknown', null, since);
    case 'retrying':
      return failure?.kind === 'rate-limited'
        ? plain('rate-limit', failure.message, since)
        : plain('retry', failure?.message ?? null, since);
    case 'streaming':
    case 'compacting':
      return agent.isAsking ? plain('model', model, since) : null;
    case 'awaiting-permission':
      return permission(agent);
    case 'tool-running':
      return waitOfCalls(agent, find);
    case 'idle':
      return lock(agent) ?? forOwn([...agent.expected], since, find);
    default:
      return null;
  }
};

/** Of one that has not begun, or not again: `isForWorker` where the queue of the workers has it. */
export const waitOfQueued = (agent: AgentFold, isForWorker: boolean): AgentWait | null => {
  const { awaits, refusal, phaseSince: since } = agent;
  const ahead = lock(agent);
  if (ahead !== null) return ahead;
  if (isForWorker || awaits === 'worker') return plain('worker', refusal, since);
  return awaits === null ? null : plain(awaits, null, since);
};

/** Of one that has ended: its work may have to wait. */
export const waitOfEnded = (agent: AgentFold): AgentWait | null => lock(agent);

const plain = (kind: WaitKind, detail: string | null, since: number): AgentWait => {
  return { kind, detail, since, agents: [], count: 1 };
};

const permission = ({ calls: { questions } }: AgentFold): AgentWait | null => {
  const [first] = questions.values();
  if (first === undefined) return null;
  const { description, since } = first;
  return { kind: 'permission', detail: description, since, agents: [], count: questions.size };
};

const lock = ({ lock: held }: AgentFold): AgentWait | null => {
  if (held === null) return null;
  const { place, holder, since } = held;
  return { kind: 'lock', detail: place, since, agents: holder === null ? [] : [holder], count: 1 };
};

/** Nothing, while one of them does something itself. */
const waitOfCalls = (agent: AgentFold, find: FindAgent): AgentWait | null => {
  const { running, holds } = agent.calls;
  const awaited: string[] = [];
  let since = Number.POSITIVE_INFINITY;
  let held: CallHold | undefined;
  for (const call of running.values()) {
    const hold = holds.get(call.call);
    const children = hold === undefined ? childrenOf(agent, call, find) : [];
    if (hold === undefined && children.length === 0) return null;
    held ??= hold;
    awaited.push(...children);
    since = Math.min(since, call.since);
  }
  if (running.size === 0) return null;
  const asked = permission(agent);
  if (asked !== null) return asked;
  if (held !== undefined) return plain(held.why ?? 'unknown', null, held.since);
  return forOwn(awaited, since, find);
};

/** Those that a call waits for: whom it asked for, or whose output it wants. */
const childrenOf = (
  { calls }: AgentFold,
  { call, tool, description }: SeenCall,
  find: FindAgent,
): readonly string[] => {
  if (tool === 'Task') return calls.children.get(call) ?? [];
  if (tool !== 'TaskOutput') return [];
  const other = find(description.slice('TaskOutput '.length));
  return other === undefined ? [] : [other.id];
};

const forOwn = (children: readonly string[], since: number, find: FindAgent): AgentWait | null => {
  const [first] = children;
  if (first === undefined) return null;
  const { name, type, kind } = find(first)?.identity ?? { name: null, type: null, kind: first };
  const agents = children.slice(0, MOST_NAMED);
  return { kind: 'child', detail: name ?? type ?? kind, since, agents, count: children.length };
};
