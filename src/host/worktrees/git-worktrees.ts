/**
 * Git worktrees of agents: creates a branch and a folder per agent, and merges the work back into
 * the parent's tree. Unmerged work is never removed. Operations on the same tree run one at a time.
 */
import { accessSync, constants, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { KeyedMutex } from '../../lib/async/keyed-mutex.js';
import {
  type OnLockWait,
  type OpenWorktreeOptions,
  type WorktreeLocation,
  WorktreeRefusal,
  type Worktrees,
} from '../../protocol/tools/worktrees.js';
import {
  type GitRepository,
  openRepository,
  realPathOf,
  repositoryAt,
  type WorktreeHome,
} from '../git/git-repository.js';
import { copyIndex, GitTree } from '../git/git-tree.js';
import { settleWorktree } from './settle-worktree.js';
import {
  baseCommitIn,
  isCheckedOut,
  isEmptyShell,
  lockReason,
  worktreeAdmin,
} from './worktree-admin.js';

export const gitWorktrees = (home: WorktreeHome): Worktrees => {
  const locks = new TreeLocks();
  return {
    async open(order) {
      const { top } = repositoryAt(order.cwd);
      return locks.run(top, order, () => make(home, order, undefined));
    },
    async reopen(order, known) {
      await locks.run(known.top, order, () => make(home, { ...order, cwd: known.top }, known));
    },
    settle: (order) => locks.run(order.place.top, order, () => settleWorktree(home, order)),
  };
};

const make = async (
  home: WorktreeHome,
  order: OpenWorktreeOptions,
  known: WorktreeLocation | undefined,
): Promise<WorktreeLocation> => {
  const { agent, cwd } = order;
  const repository = await openRepository(cwd, home.environment);
  const { tree, common } = repository;
  refuseUnwritable(common);
  const head = await tree.find('HEAD^{commit}');
  if (head === undefined) {
    throw new WorktreeRefusal(
      `The repository ${tree.top} has no commit yet, so no agent can have a worktree of its own: commit once.`,
    );
  }
  const branch = `agent/${agent}`;
  const path = worktreePath(home, order);
  const place = {
    path,
    branch,
    top: tree.top,
    cwd: join(path, relative(tree.top, realPathOf(cwd))),
  };
  const admin = worktreeAdmin(common, path);
  const there = admin === undefined ? undefined : baseCommitIn(admin);
  if (admin !== undefined && there !== undefined && isCheckedOut(admin, path)) {
    return { ...place, base: there };
  }
  const tip = await tree.find(`refs/heads/${branch}^{commit}`);
  // A new agent starts at an existing branch. A known agent keeps its base, because its commits may be unmerged.
  const started = tip === undefined ? undefined : (known?.base ?? tip);
  const base = started ?? (await newBase(home, repository, { head, agent }));
  if (tip === undefined) await tree.run(['update-ref', `refs/heads/${branch}`, base, '']);
  await addWorktree(home, repository, { path, branch, base, agent });
  return { ...place, base };
};

interface Addition {
  readonly path: string;
  /** Branch name, or a commit for a detached HEAD. */
  readonly branch: string;
  readonly base: string;
  readonly agent: string;
}

export const addWorktree = async (
  home: WorktreeHome,
  { tree, common }: Pick<GitRepository, 'tree' | 'common'>,
  { path, branch, base, agent }: Addition,
): Promise<void> => {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Remove the remains of a process that died while git created the worktree.
    if (isEmptyShell(path)) rmSync(path, { recursive: true, force: true });
  } catch (error) {
    throw new WorktreeRefusal(`${path} cannot be made: ${(error as Error).message}`);
  }
  const how = ['--no-checkout', '--lock', '--reason', lockReason(agent, base), '-f', '-f'];
  await tree.run(['worktree', 'add', ...how, path, branch]);
  const admin = worktreeAdmin(common, path);
  if (admin === undefined) throw new WorktreeRefusal(`git made no worktree at ${path}.`);
  const own = await GitTree.open(path, admin, home.environment);
  // Git writes the index last, so an index means that all files exist.
  await own.run(['read-tree', '--reset', '-u', 'HEAD']);
};

/** Returns a commit of the parent's current files: HEAD if they are unchanged. */
const newBase = async (
  { folder, excluded: without }: WorktreeHome,
  { tree, directory }: GitRepository,
  { head, agent }: { readonly head: string; readonly agent: string },
): Promise<string> => {
  const index = copyIndex(directory, join(folder, `.index-${agent}`));
  try {
    const picture = await tree.snapshot(index, { excluded: without });
    if (picture.tree === (await tree.treeOf(head))) return head;
    return await tree.commit(picture.tree, [head], `What agent ${agent} began with`);
  } finally {
    rmSync(index, { force: true });
  }
};

const refuseUnwritable = (common: string): void => {
  for (const folder of [common, join(common, 'objects'), join(common, 'refs')]) {
    try {
      accessSync(folder, constants.W_OK);
    } catch {
      throw new WorktreeRefusal(
        `${folder} cannot be written, so no agent can have a worktree of its own here.`,
      );
    }
  }
};

/** Returns the path of the worktree. Throws WorktreeRefusal if a name is unsafe as a folder or branch name. */
export const worktreePath = (
  { folder }: WorktreeHome,
  { session, agent }: Pick<OpenWorktreeOptions, 'session' | 'agent'>,
): string => {
  for (const name of [session, agent]) {
    if (!/^\w[\w-]{0,99}$/.test(name)) throw new WorktreeRefusal(`${name} is not a plain name.`);
  }
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new WorktreeRefusal(`${folder} cannot be made: ${(error as Error).message}`);
  }
  return join(realPathOf(folder), session, agent);
};

interface TreeLockOptions {
  readonly agent: string;
  readonly onWait?: OnLockWait;
}

/** Runs one operation at a time per working tree, and notifies a waiting agent of the lock holder. */
export class TreeLocks {
  private readonly mutex = new KeyedMutex();
  /** Agent that holds the lock, by tree. */
  private readonly holders = new Map<string, string>();

  async run<Result>(
    top: string,
    { agent, onWait }: TreeLockOptions,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const holder = this.holders.get(top);
    if (!this.mutex.isLocked(top)) this.holders.set(top, agent);
    else if (holder !== undefined) onWait?.(holder, top);
    try {
      return await this.mutex.run(top, () => {
        this.holders.set(top, agent);
        return work();
      });
    } finally {
      if (!this.mutex.isLocked(top)) this.holders.delete(top);
    }
  }
}
