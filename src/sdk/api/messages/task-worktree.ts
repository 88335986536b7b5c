/** What programs are told of the worktree of an agent that has ended. */
import type { WorktreeReport } from '../../../protocol/agent/swarm.js';
import type { Settlement } from '../../../protocol/tools/worktree.js';

export interface TaskWorktree {
  readonly outcome: Settlement['kind'];
  readonly branch: string;
  readonly path: string;
  /** Files that are in the way; none unless the outcome is `conflict`. */
  readonly conflicts: readonly string[];
  /** A file with the work as a patch. */
  readonly diff?: string;
}

const MOST_FILES = 200;

export const taskWorktree = ({ outcome, branch, path, diff }: WorktreeReport): TaskWorktree => {
  const conflicts = 'conflicts' in outcome ? outcome.conflicts.slice(0, MOST_FILES) : [];
  return {
    outcome: outcome.kind,
    branch,
    path,
    conflicts: conflicts.map((it) => it.path),
    ...(diff !== undefined && { diff }),
  };
};
