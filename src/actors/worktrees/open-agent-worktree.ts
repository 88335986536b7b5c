/**
 * Gives a child its own worktree, with the shell and the checkpoints for it. Idempotent: after a
 * crash the second attempt finds the worktree.
 */
import { isPathInside } from '../../lib/paths/is-path-inside.js';
import type { WorktreeMapping } from '../../policy/paths/worktree-mapping.js';
import { AgentRefusal } from '../../protocol/agent/agents.js';
import type { CallWatch, Checkpoints } from '../../protocol/session/checkpoints.js';
import type { AgentOrigin } from '../../protocol/session/swarm-records.js';
import type { Shell } from '../../protocol/tools/shell.js';
import { type WorktreeLocation, WorktreeRefusal } from '../../protocol/tools/worktrees.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import { recordLockWait } from './record-lock-wait.js';

/**
 * Creates a worktree for a child and returns its origin with the location. Rejects with
 * AgentRefusal.
 */
export const openAgentWorktree = async (
  { setup, session }: SwarmContext,
  parent: AgentNode,
  id: string,
  origin: AgentOrigin,
): Promise<AgentOrigin> => {
  const { worktrees } = setup;
  if (worktrees === undefined) throw new AgentRefusal(NO_WORKTREES);
  const onWait = recordLockWait(parent.deps.journal, id);
  const cwd = workingFolder(parent, session.meta.cwd);
  const request = { session: session.meta.id, agent: id, cwd, onWait };
  const worktree = await toAgentRefusal(worktrees.open(request));
  return { ...origin, worktree };
};

/**
 * Restores the worktree of a restarted child, if its folder was removed with the last merge.
 * Rejects with AgentRefusal.
 */
export const reopenAgentWorktree = async (
  { setup, session }: SwarmContext,
  child: ChildNode,
): Promise<void> => {
  const { worktree } = child.origin;
  // `openWorkerClone` has already restored a clone.
  if (worktree === undefined || child.deps.journal.history.relations.cloned !== undefined) return;
  if (setup.worktrees === undefined) throw new AgentRefusal(NO_WORKTREES);
  const request = { session: session.meta.id, agent: child.id };
  const base = child.deps.journal.history.relations.mergedAt ?? worktree.base;
  await toAgentRefusal(setup.worktrees.reopen(request, { ...worktree, base }));
};

const NO_WORKTREES =
  'No agent can have a worktree of its own here. Leave out isolation, and let agents that work side by side change different files.';

const toAgentRefusal = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof WorktreeRefusal)) throw error;
    throw new AgentRefusal(`${error.message} Leave out isolation to work without one.`, {
      cause: error,
    });
  }
};

/** Returns the working directory of the parent, or its root if the directory is outside of it. */
const workingFolder = (parent: AgentNode, workspace: string): string => {
  const root = worktreeOf(parent)?.path ?? workspace;
  const { cwd } = parent.deps.journal.history;
  return isPathInside({ path: cwd, folder: root }) ? cwd : root;
};

/** Returns the worktree of the agent or of its nearest ancestor with a worktree. */
const worktreeOf = (node: AgentNode | ChildNode): WorktreeLocation | undefined =>
  'origin' in node ? (node.origin.worktree ?? worktreeOf(node.parent)) : undefined;

/** Returns the mappings of the worktree of an agent and of the worktrees of its ancestors. */
export const worktreeMappings = (
  parent: AgentNode | ChildNode,
  { worktree }: AgentOrigin,
): readonly WorktreeMapping[] => [
  ...(worktree === undefined ? [] : [{ path: worktree.path, top: worktree.top }]),
  ...('origin' in parent ? worktreeMappings(parent.parent, parent.origin) : []),
];

interface Equipment {
  readonly shell: Shell;
  readonly checkpoints: Checkpoints | undefined;
}

/** Returns the shell and the checkpoints for the tree that a child works in. */
export const worktreeEquipment = (
  swarm: SwarmContext,
  parent: AgentNode,
  { worktree }: AgentOrigin,
): Equipment => {
  const { setup, checkpoints } = swarm;
  // The crew of the lead records changes itself; for children the checkpoints of the swarm do it.
  const parentCheckpoints = parent.depth === 0 ? checkpoints : parent.deps.checkpoints;
  if (worktree === undefined) return { shell: parent.deps.shell, checkpoints: parentCheckpoints };
  const shell = setup.shellIn?.(worktree) ?? parent.deps.shell;
  return { shell, checkpoints: checkpoints && outsideOf(worktree.path, checkpoints) };
};

/**
 * Checkpoints for files outside of a worktree. Changes inside are kept by its branch and cannot be
 * rewound. Changes of a command elsewhere are recorded, but not reported by the agent.
 */
const outsideOf = (folder: string, checkpoints: Checkpoints): Checkpoints => ({
  prepare: () => checkpoints.prepare(),
  async watch(watched) {
    const { paths } = watched;
    if (paths?.every((path) => isPathInside({ path, folder }))) return NO_CHANGES;
    const watch = await checkpoints.watch(watched);
    return {
      isDeferred: watch.isDeferred,
      async changes() {
        await watch.changes();
        return [];
      },
      cancel: () => watch.cancel(),
    };
  },
});

const NO_CHANGES: CallWatch = { isDeferred: false, changes: async () => [], cancel() {} };
