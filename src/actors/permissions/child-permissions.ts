/** Permissions of a child agent: the rules of its parent, and the parent as its surface. */
import { agentMode } from '../../policy/agent-mode.js';
import type { WorktreeMapping } from '../../policy/paths/worktree-mapping.js';
import type { KnownSurface } from '../../protocol/permission/signed-answer.js';
import type { AgentOrigin } from '../../protocol/session/swarm-records.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { AgentNode } from '../tree/agent-node.js';
import { worktreeMappings } from '../worktrees/open-agent-worktree.js';
import { parentSurface } from './parent-surface.js';
import type { PermissionManager, Planning } from './permission-manager.js';

/**
 * Returns the permissions of a child. Children of a parent with equal restrictions share a manager.
 */
export const childPermissions = (
  parent: AgentNode,
  origin: AgentOrigin,
  journal: JournaledState,
): PermissionManager => {
  const { type, tools, limits = [], denials = [], worktree } = origin;
  // A journal cannot give a child a mode that allows more than its parent's.
  const mode = agentMode(origin.mode, 'bubble');
  const isPlanning = mode === 'plan';
  const restrictions = JSON.stringify([type, mode, tools, limits, denials, worktree?.path]);
  const existing = parent.childPermissions.get(restrictions);
  if (existing !== undefined) return existing;
  const toolset = tools && { owner: type ?? 'fork', names: new Set(tools), limits, denials };
  const trees = worktree && worktreeMappings(parent, origin);
  const surfaces = parentSurfaces(parent, trees);
  if (isPlanning) {
    const plan = planOf(parent, journal);
    return parent.deps.permissions.forChild({ tools: toolset, mode: plan, surfaces, trees });
  }
  const permissions = parent.deps.permissions.forChild({ tools: toolset, mode, surfaces, trees });
  parent.childPermissions.set(restrictions, permissions);
  return permissions;
};

/**
 * Returns plan mode until the plan is approved on record, then `bubble`: questions go to the
 * parent.
 */
const planOf = (parent: AgentNode, journal: JournaledState): Planning => ({
  get mode() {
    return journal.history.relations.isPlanApproved ? 'bubble' : 'plan';
  },
  leavePlan() {
    journal.record({ type: 'plan.approved', by: 'user' });
    const { mode } = parent.deps.permissions;
    return mode === 'bubble' || mode === 'plan' ? 'default' : mode;
  },
});

/**
 * Returns the parent as a surface for its children, or an empty list if the parent has no surface.
 */
const parentSurfaces = (
  parent: AgentNode,
  trees?: readonly WorktreeMapping[],
): readonly KnownSurface[] => {
  const { permissions } = parent.deps;
  if (trees !== undefined) return surfacesOf(parent, judgingIn(permissions, trees));
  parent.surfaces ??= surfacesOf(parent, permissions);
  return parent.surfaces;
};

const surfacesOf = (
  { id: agent, deps: { toolbox, clock, parent } }: AgentNode,
  permissions: PermissionManager,
): readonly KnownSurface[] => {
  if (permissions.surfaces.length === 0) return [];
  return [
    parentSurface({
      agent,
      permissions,
      toolbox,
      clock,
      ...(parent !== undefined && { parent }),
    }),
  ];
};

/** Judges the requests of a child with its own worktree as if the parent made them in that tree. */
const judgingIn = (
  permissions: PermissionManager,
  trees: readonly WorktreeMapping[],
): PermissionManager => {
  const rule: PermissionManager['rule'] = (request, opinions, within = trees) =>
    permissions.rule(request, opinions, within);
  // Inherits instead of copying, because the mode of the parent may change.
  return Object.assign(Object.create(permissions) as PermissionManager, { rule });
};
