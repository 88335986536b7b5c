/**
 * Merges the work of a child from its worktree or clone into the tree of its parent. Idempotent:
 * after a crash the second attempt finds the merge done.
 */
import type { CallWatch } from '../../protocol/session/checkpoints.js';
import type { SettleResult } from '../../protocol/tools/worktrees.js';
import type { ChildNode } from '../tree/agent-node.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import { pushWorkerClone } from './open-worker-clone.js';
import { recordLockWait } from './record-lock-wait.js';

/** True if the work of the child is merged or it has no worktree. */
export const isMergedBack = ({ origin, deps }: ChildNode): boolean =>
  origin.worktree === undefined || deps.journal.history.relations.settled !== null;

/**
 * Merges the work of an ended or idle child into the tree of its parent and records the result.
 * Files that the merge changes are kept with the lead, so that it can be rewound.
 */
export const mergeBack = async (
  swarm: SwarmContext,
  child: ChildNode,
  keepsFolder = false,
): Promise<void> => {
  const { id, deps } = child;
  const { journal, openArtifact } = deps;
  const settled =
    (await pushWorkerClone(swarm, child, keepsFolder)) ?? (await merge(swarm, child, keepsFolder));
  if (settled === undefined) return;
  const { settlement, diff } = settled;
  const patch = diff.length === 0 ? undefined : await keepPatch(openArtifact(`${id}.diff`), diff);
  journal.record({
    type: 'worktree.settled',
    outcome: settlement,
    ...(patch !== undefined && { diff: patch }),
  });
};

/** Returns undefined if the child has no worktree. */
const merge = async (
  swarm: SwarmContext,
  { id, parent, deps, origin }: ChildNode,
  keepsFolder: boolean,
): Promise<SettleResult | undefined> => {
  const { worktree } = origin;
  const { worktrees } = swarm.setup;
  if (worktree === undefined || worktrees === undefined) return undefined;
  const { relations } = deps.journal.history;
  const checkpoints = parent.depth === 0 ? swarm.checkpoints : parent.deps.checkpoints;
  let watch: CallWatch | undefined;
  const settled = await worktrees.settle({
    agent: id,
    place: worktree,
    keepsFolder,
    merged: relations.mergedAt,
    ignoredFiles: [...relations.writtenFiles],
    onWait: recordLockWait(deps.journal),
    async beforeMerge(paths) {
      watch = await checkpoints?.watch({ call: `merge_${id}`, paths });
    },
  });
  await watch?.changes();
  return settled;
};

const keepPatch = async (
  artifact: ReturnType<ChildNode['deps']['openArtifact']>,
  diff: Uint8Array,
): Promise<string | undefined> => {
  artifact.write(diff);
  try {
    await artifact.close();
    return artifact.path;
  } catch {
    // The patch is a convenience: the branch has all changes.
    return undefined;
  }
};
