/** Task worktree: outcome of an ended agent's worktree, for programs. */
import type { WorktreeReport } from '../../../protocol/agent/child-report.js';
import type { Settlement } from '../../../protocol/tools/worktrees.js';

export interface TaskWorktree {
  readonly outcome: Settlement['kind'];
  readonly branch: string;
  readonly path: string;
  /** Files in conflict. Empty unless the outcome is `conflict`. */
  readonly conflicts: readonly string[];
  /** Path of a patch file with the work. */
  readonly diff?: string;
}

const MAX_CONFLICTS = 200;

export const taskWorktree = ({ outcome, branch, path, diff }: WorktreeReport): TaskWorktree => {
  const conflicts = 'conflicts' in outcome ? outcome.conflicts.slice(0, MAX_CONFLICTS) : [];
  return {
    outcome: outcome.kind,
    branch,
    path,
    conflicts: conflicts.map((conflict) => conflict.path),
    ...(diff !== undefined && { diff }),
  };
};
