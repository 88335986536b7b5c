/** Where the calls of an agent that works for another are judged. */
import { modeFor } from '../../policy/agent-mode.js';
import type { Origin } from '../../protocol/session/swarm-records.js';
import type { JournaledState } from '../agent/journaled-state.js';
import { type AgentNode, askedBy } from '../tree/agent-node.js';
import { treesOf } from '../worktrees/agent-worktree.js';
import type { PermissionManager, Planning } from './permission-manager.js';

/** Under the rules of its parent, and with nothing that its parent does not have. */
export const permissionsForChild = (
  parent: AgentNode,
  origin: Origin,
  notebook: JournaledState,
): PermissionManager => {
  const { type, tools, limits = [], denials = [], worktree } = origin;
  // Whatever a journal says, no more than its parent may.
  const mode = modeFor(origin.mode, 'bubble');
  const isPlanning = mode === 'plan';
  const terms = JSON.stringify([type, mode, tools, limits, denials, worktree?.path]);
  const known = parent.desks.get(terms);
  if (known !== undefined) return known;
  const given = tools && { owner: type ?? 'fork', names: new Set(tools), limits, denials };
  const trees = worktree && treesOf(parent, origin);
  const surfaces = askedBy(parent, trees);
  if (isPlanning) {
    const plan = planOf(parent, notebook);
    return parent.deps.desk.under({ tools: given, mode: plan, surfaces, trees });
  }
  const desk = parent.deps.desk.under({ tools: given, mode, surfaces, trees });
  parent.desks.set(terms, desk);
  return desk;
};

/** One that could only plan asks its parent like the others once its plan is approved; that is on record. */
const planOf = (parent: AgentNode, notebook: JournaledState): Planning => ({
  get mode() {
    return notebook.history.family.isPlanApproved ? 'bubble' : 'plan';
  },
  leavePlan() {
    notebook.record({ type: 'plan.approved', by: 'user' });
    const { mode } = parent.deps.desk;
    return mode === 'bubble' || mode === 'plan' ? 'default' : mode;
  },
});
