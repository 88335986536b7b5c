/** A node of the tree of agents: the dependencies of an agent and the state that its children share. */
import type { Spending } from '../../context/budget/spending.js';
import type { AgentTag } from '../../protocol/agent/agent-tag.js';
import type { KnownSurface } from '../../protocol/permission/signed-answer.js';
import type { AgentOrigin } from '../../protocol/session/swarm-records.js';
import type { Agent, AgentDeps } from '../agent/agent.js';
import type { BackgroundCommands } from '../calls/background-commands.js';
import type { PermissionManager } from '../permissions/permission-manager.js';
import type { ForkPoint } from './fork-point.js';

export interface AgentNode {
  readonly id: string;
  /** Depth in the tree. 0 for the lead. */
  readonly depth: number;
  readonly deps: AgentDeps;
  /** True if another process runs the agent. */
  readonly isRemote: boolean;
  /** Spending of the agent and its descendants. */
  readonly subtreeSpending: Spending;
  /** Undefined while the agent does not run. */
  agent: Agent | undefined;
  /** Surfaces that its children ask. Created on first use. */
  surfaces: readonly KnownSurface[] | undefined;
  /** Permission managers of its children, by toolset and mode, because children with equal rights share one. */
  readonly childPermissions: Map<string, PermissionManager>;
  /** Fork point of its newest message. */
  forkPoint: ForkPoint | undefined;
  siblings: SiblingCount | undefined;
}

export interface ChildNode extends AgentNode {
  readonly tag: AgentTag;
  readonly origin: AgentOrigin;
  readonly parent: AgentNode;
  readonly jobs: BackgroundCommands;
  readonly hooks: { close(): void };
}

/** Number of agents that the newest message spawns. */
interface SiblingCount {
  readonly turns: number;
  readonly all: number;
  readonly byType: ReadonlyMap<string, number>;
  readonly groups: readonly SiblingGroup[];
}

/** Agents that a message spawns with the same type and model. */
export interface SiblingGroup {
  /** Agent type. Null for forks. */
  readonly type: string | null;
  /** Model that the calls name. Undefined for the model of the type. */
  readonly model: string | undefined;
  readonly count: number;
}

/** Returns the number of agents of a type that the newest message spawns. A null type counts forks. */
export const siblingsOf = (node: AgentNode, type: string | null): number =>
  siblingCount(node).byType.get(type ?? FORK) ?? 1;

/** Returns the number of agents of all types that the newest message spawns. */
export const allSiblingsOf = (node: AgentNode): number => Math.max(1, siblingCount(node).all);

/** Returns the groups of agents that the newest message spawns. */
export const siblingGroupsOf = (node: AgentNode): readonly SiblingGroup[] =>
  siblingCount(node).groups;

/** Counts once per message. */
const siblingCount = (node: AgentNode): SiblingCount => {
  const { turns, calls, relations } = node.deps.journal.history;
  if (node.siblings?.turns === turns) return node.siblings;
  const byType = new Map<string, number>();
  const groups = new Map<string, SiblingGroup>();
  let all = 0;
  for (const { id, tool, input, result } of calls.values()) {
    // An ended child counts as a sibling, a refused call does not.
    if (tool !== 'Task' || (result !== null && !relations.childByCall.has(id))) continue;
    const fields = Object(input) as Readonly<Record<string, unknown>>;
    // A preview of the cost spawns no agent.
    if (fields.preview !== undefined) continue;
    const type = textOf(fields.subagent_type) ?? null;
    const model = textOf(fields.model);
    const typeName = type ?? FORK;
    const key = `${typeName}\n${model ?? ''}`;
    groups.set(key, { type, model, count: (groups.get(key)?.count ?? 0) + 1 });
    byType.set(typeName, (byType.get(typeName) ?? 0) + 1);
    all += 1;
  }
  node.siblings = { turns, all, byType, groups: [...groups.values()] };
  return node.siblings;
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

const FORK = '(fork)';
