/**
 * Agents with a worktree of their own: how one gets it, what it works with there, and how its work comes
 * home when it ends or rests. All of it may be done again after a crash; the second time finds it done.
 */

import { isInside } from '../../policy/paths/path-policy.js';
import type { WorktreeMapping } from '../../policy/paths/worktree-mapping.js';
import { SpawnRefusal } from '../../protocol/agent/swarm.js';
import { StorageError } from '../../protocol/errors.js';
import type { CallWatch, Checkpoints } from '../../protocol/session/checkpoint.js';
import type { Origin } from '../../protocol/session/swarm-records.js';
import type { Shell } from '../../protocol/tools/tool.js';
import {
  type Settled,
  type TellLock,
  type WorktreePlace,
  WorktreeRefusal,
} from '../../protocol/tools/worktree.js';
import type { JournaledState } from '../agent/journaled-state.js';
import type { AgentNode, ChildNode } from '../tree/agent-node.js';
import type { SwarmContext } from '../tree/swarm-context.js';
import { deliverClone } from './worker-clone.js';

/** Its terms with the place in them. Throws a SpawnRefusal. */
export const placed = async (
  { setup, session }: SwarmContext,
  parent: AgentNode,
  id: string,
  origin: Origin,
): Promise<Origin> => {
  const { worktrees } = setup;
  if (worktrees === undefined) throw new SpawnRefusal(NO_WORKTREES);
  const waits = tellLock(parent.deps.notebook, id);
  const cwd = folderOf(parent, session.meta.cwd);
  const order = { session: session.meta.id, agent: id, cwd, waits };
  const worktree = await orRefuse(worktrees.open(order));
  return { ...origin, worktree };
};

/** In the journal, so that nobody waits in silence. `child`: one that has no journal yet. */
const tellLock =
  (notebook: JournaledState, child?: string): TellLock =>
  (holder, place) => {
    const who = child === undefined ? {} : { child };
    try {
      notebook.record({ type: 'lock.awaited', place, holder, ...who });
    } catch (error) {
      // A disk that is full shows with the next record that matters; work must come home all the same.
      if (!(error instanceof StorageError)) throw error;
    }
  };

/** The folder of one that goes on may have gone with its last work. Throws a SpawnRefusal. */
export const reopen = async ({ setup, session }: SwarmContext, child: ChildNode): Promise<void> => {
  const { worktree } = child.origin;
  // A clone was looked for before it was rebuilt.
  if (worktree === undefined || child.deps.notebook.history.family.cloned !== undefined) return;
  if (setup.worktrees === undefined) throw new SpawnRefusal(NO_WORKTREES);
  const order = { session: session.meta.id, agent: child.id };
  const base = child.deps.notebook.history.family.mergedAt ?? worktree.base;
  await orRefuse(setup.worktrees.reopen(order, { ...worktree, base }));
};

const NO_WORKTREES =
  'No agent can have a worktree of its own here. Leave out isolation, and let agents that work side by side change different files.';

const orRefuse = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof WorktreeRefusal)) throw error;
    throw new SpawnRefusal(`${error.message} Leave out isolation to work without one.`, {
      cause: error,
    });
  }
};

/** Where the parent works now, unless that is outside of what it may work in. */
const folderOf = (parent: AgentNode, workspace: string): string => {
  const home = worktreeOf(parent)?.path ?? workspace;
  const { cwd } = parent.deps.notebook.history;
  return isInside(home, cwd) ? cwd : home;
};

/** Of the agent itself, or of the nearest one above it that has one. */
const worktreeOf = (member: AgentNode | ChildNode): WorktreePlace | undefined =>
  'origin' in member ? (member.origin.worktree ?? worktreeOf(member.parent)) : undefined;

/** The trees of an agent: the one that it works in, and those that this one came from. */
export const treesOf = (
  parent: AgentNode | ChildNode,
  { worktree }: Origin,
): readonly WorktreeMapping[] => [
  ...(worktree === undefined ? [] : [{ path: worktree.path, top: worktree.top }]),
  ...('origin' in parent ? treesOf(parent.parent, parent.origin) : []),
];

interface Equipment {
  readonly shell: Shell;
  readonly checkpoints: Checkpoints | undefined;
}

/** What an agent works with, by where it works. */
export const equipmentFor = (
  house: SwarmContext,
  parent: AgentNode,
  { worktree }: Origin,
): Equipment => {
  const { setup, checkpoints } = house;
  // What the lead changes it writes down itself; those below it leave that to it.
  const above = parent.depth === 0 ? checkpoints : parent.deps.checkpoints;
  if (worktree === undefined) return { shell: parent.deps.shell, checkpoints: above };
  const shell = setup.shellIn?.(worktree) ?? parent.deps.shell;
  return { shell, checkpoints: checkpoints && outsideOf(worktree.path, checkpoints) };
};

/**
 * What happens in a worktree is kept by its branch, and cannot be rewound; a command may still have changed
 * something elsewhere, which is nothing that the agent reports.
 */
const outsideOf = (path: string, checkpoints: Checkpoints): Checkpoints => ({
  async watch(watched) {
    const { paths } = watched;
    if (paths?.every((it) => isInside(path, it))) return NOTHING;
    const watch = await checkpoints.watch(watched);
    return {
      async changes() {
        await watch.changes();
        return [];
      },
    };
  },
});

const NOTHING: CallWatch = { changes: async () => [] };

/** Its work is where its last record says; one without a worktree has never been away. */
export const isHome = ({ origin, deps }: ChildNode): boolean =>
  origin.worktree === undefined || deps.notebook.history.family.settled !== null;

/**
 * Brings the work of an agent that has ended, or rests, into the tree of its parent, and writes down what
 * came of that. What the merge changes is kept with the lead, so that it can be rewound.
 */
export const mergeBack = async (
  house: SwarmContext,
  child: ChildNode,
  stays = false,
): Promise<void> => {
  const { id, deps } = child;
  const { notebook, openArtifact } = deps;
  const settled = (await deliverClone(house, child, stays)) ?? (await merge(house, child, stays));
  if (settled === undefined) return;
  const { settlement, diff } = settled;
  const patch = diff.length === 0 ? undefined : await keepPatch(openArtifact(`${id}.diff`), diff);
  notebook.record({
    type: 'worktree.settled',
    outcome: settlement,
    ...(patch !== undefined && { diff: patch }),
  });
};

/** Undefined for one that has no worktree. */
const merge = async (
  house: SwarmContext,
  { id, parent, deps, origin }: ChildNode,
  stays: boolean,
): Promise<Settled | undefined> => {
  const { worktree: place } = origin;
  const { worktrees } = house.setup;
  if (place === undefined || worktrees === undefined) return undefined;
  const { family } = deps.notebook.history;
  const checkpoints = parent.depth === 0 ? house.checkpoints : parent.deps.checkpoints;
  let watch: CallWatch | undefined;
  const settled = await worktrees.settle({
    agent: id,
    place,
    stays,
    merged: family.mergedAt,
    wanted: [...family.writtenFiles],
    waits: tellLock(deps.notebook),
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
    // The branch has it all.
    return undefined;
  }
};
