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
    async open(options) {
      const { top } = repositoryAt(options.cwd);
      return locks.run(top, options, () => openWorktree(home, options, undefined));
    },
    async reopen(options, previous) {
      await locks.run(previous.top, options, () =>
        openWorktree(home, { ...options, cwd: previous.top }, previous),
      );
    },
    settle: (options) => locks.run(options.place.top, options, () => settleWorktree(home, options)),
  };
};

const openWorktree = async (
  home: WorktreeHome,
  options: OpenWorktreeOptions,
  previous: WorktreeLocation | undefined,
): Promise<WorktreeLocation> => {
  const { agent, cwd } = options;
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
  const path = worktreePath(home, options);
  const location = {
    path,
    branch,
    top: tree.top,
    cwd: join(path, relative(tree.top, realPathOf(cwd))),
  };
  const admin = worktreeAdmin(common, path);
  const existingBase = admin === undefined ? undefined : baseCommitIn(admin);
  if (admin !== undefined && existingBase !== undefined && isCheckedOut(admin, path)) {
    return { ...location, base: existingBase };
  }
  const tip = await tree.find(`refs/heads/${branch}^{commit}`);
  // A new agent starts at an existing branch. A known agent keeps its base, because its commits may be unmerged.
  const branchBase = tip === undefined ? undefined : (previous?.base ?? tip);
  const base = branchBase ?? (await newBase(home, repository, { head, agent }));
  if (tip === undefined) await tree.run(['update-ref', `refs/heads/${branch}`, base, '']);
  await addWorktree(home, repository, { path, branch, base, agent });
  return { ...location, base };
};

interface NewWorktree {
  readonly path: string;
  /** Branch name, or a commit for a detached HEAD. */
  readonly branch: string;
  readonly base: string;
  readonly agent: string;
}

export const addWorktree = async (
  home: WorktreeHome,
  { tree, common }: Pick<GitRepository, 'tree' | 'common'>,
  { path, branch, base, agent }: NewWorktree,
): Promise<void> => {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Remove the remains of a process that died while git created the worktree.
    if (isEmptyShell(path)) rmSync(path, { recursive: true, force: true });
  } catch (error) {
    throw new WorktreeRefusal(`${path} cannot be made: ${(error as Error).message}`);
  }
  const flags = ['--no-checkout', '--lock', '--reason', lockReason(agent, base), '-f', '-f'];
  await tree.run(['worktree', 'add', ...flags, path, branch]);
  const admin = worktreeAdmin(common, path);
  if (admin === undefined) throw new WorktreeRefusal(`git made no worktree at ${path}.`);
  const worktree = await GitTree.open(path, admin, home.environment);
  // Git writes the index last, so an index means that all files exist.
  await worktree.run(['read-tree', '--reset', '-u', 'HEAD']);
};

/** Returns a commit of the parent's current files: HEAD if they are unchanged. */
const newBase = async (
  { folder, excluded }: WorktreeHome,
  { tree, directory }: GitRepository,
  { head, agent }: { readonly head: string; readonly agent: string },
): Promise<string> => {
  const index = copyIndex(directory, join(folder, `.index-${agent}`));
  try {
    const snapshot = await tree.snapshot(index, { excluded });
    if (snapshot.tree === (await tree.treeOf(head))) return head;
    return await tree.commit(snapshot.tree, [head], `What agent ${agent} began with`);
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
