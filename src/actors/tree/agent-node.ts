/** An agent of a swarm as the others see it: its equipment, and what it knows of those that work for it. */
import type { Spending } from '../../context/budget/spending.js';
import type { WorktreeMapping } from '../../policy/paths/worktree-mapping.js';
import type { AgentTag } from '../../protocol/agent/swarm.js';
import type { KnownSurface } from '../../protocol/permission/answer.js';
import type { Origin } from '../../protocol/session/swarm-records.js';
import type { Agent, AgentDeps } from '../agent/agent.js';
import type { SessionJobs } from '../calls/background-commands.js';
import { parentSurface } from '../permissions/parent-surface.js';
import type { PermissionManager } from '../permissions/permission-manager.js';
import type { ForkPoint } from './fork-point.js';

export interface AgentNode {
  readonly id: string;
  /** 0 for the lead. */
  readonly depth: number;
  readonly deps: AgentDeps;
  /** Another process works on it: here it is only read. */
  readonly isElsewhere: boolean;
  /** What it and all below it have used up. */
  readonly tree: Spending;
  /** Undefined while it is not at work. */
  agent: Agent | undefined;
  /** Whom its children ask; made when the first one does. */
  surfaces: readonly KnownSurface[] | undefined;
  /** Of its children, by their terms: those that may do the same are judged at one desk. */
  readonly desks: Map<string, PermissionManager>;
  /** Of its newest message. */
  forkPoint: ForkPoint | undefined;
  siblings: SiblingCount | undefined;
}

export interface ChildNode extends AgentNode {
  readonly tag: AgentTag;
  readonly origin: Origin;
  readonly parent: AgentNode;
  readonly jobs: SessionJobs;
  readonly hooks: { close(): void };
}

/** How many agents the newest message asks for. */
interface SiblingCount {
  readonly turns: number;
  readonly all: number;
  readonly byType: ReadonlyMap<string, number>;
  readonly groups: readonly SiblingGroup[];
}

/** Of one message: those that are of one type and asked for with one model. */
export interface SiblingGroup {
  /** Null is a fork. */
  readonly type: string | null;
  /** As the calls name it; undefined is that of the type. */
  readonly model: string | undefined;
  readonly count: number;
}

/** How many agents of a type, forks if it is undefined, a message of this agent asks for. */
export const siblingsOf = (member: AgentNode, type: string | null): number =>
  siblingCount(member).byType.get(type ?? FORK) ?? 1;

/** The same for all types together. */
export const allSiblingsOf = (member: AgentNode): number => Math.max(1, siblingCount(member).all);

/** All that a message of this agent asks for. */
export const siblingGroupsOf = (member: AgentNode): readonly SiblingGroup[] =>
  siblingCount(member).groups;

/** Counted once for each message. */
const siblingCount = (member: AgentNode): SiblingCount => {
  const { turns, calls, family } = member.deps.notebook.history;
  if (member.siblings?.turns === turns) return member.siblings;
  const byType = new Map<string, number>();
  const groups = new Map<string, SiblingGroup>();
  let all = 0;
  for (const { id, tool, input, result } of calls.values()) {
    // One that has ended was a sibling; one that was refused was not.
    if (tool !== 'Task' || (result !== null && !family.asked.has(id))) continue;
    const asked = Object(input) as Readonly<Record<string, unknown>>;
    // Who asks what agents would cost starts none.
    if (asked.preview !== undefined) continue;
    const type = textOf(asked.subagent_type) ?? null;
    const model = textOf(asked.model);
    const wanted = type ?? FORK;
    const key = `${wanted}\n${model ?? ''}`;
    groups.set(key, { type, model, count: (groups.get(key)?.count ?? 0) + 1 });
    byType.set(wanted, (byType.get(wanted) ?? 0) + 1);
    all += 1;
  }
  member.siblings = { turns, all, byType, groups: [...groups.values()] };
  return member.siblings;
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

const FORK = '(fork)';

/** Its desk, as the one whom a child of it asks; nobody where it could not ask anybody either. */
export const askedBy = (
  member: AgentNode,
  trees?: readonly WorktreeMapping[],
): readonly KnownSurface[] => {
  if (trees !== undefined) return surfacesOf(member, inTrees(member.deps.desk, trees));
  member.surfaces ??= surfacesOf(member, member.deps.desk);
  return member.surfaces;
};

const surfacesOf = (
  { id: agent, deps: { toolbox, clock, parent } }: AgentNode,
  desk: PermissionManager,
): readonly KnownSurface[] => {
  if (desk.surfaces.length === 0) return [];
  return [
    parentSurface({
      agent,
      desk,
      toolbox,
      clock,
      ...(parent !== undefined && { parent }),
    }),
  ];
};

/** What a child asks for in a tree of its own is judged as if its parent asked for it there. */
const inTrees = (desk: PermissionManager, trees: readonly WorktreeMapping[]): PermissionManager => {
  const rule: PermissionManager['rule'] = (request, said, within = trees) =>
    desk.rule(request, said, within);
  // Not a copy: its mode may change.
  return Object.assign(Object.create(desk) as PermissionManager, { rule });
};
