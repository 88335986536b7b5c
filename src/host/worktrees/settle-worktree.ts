/**
 * Settles a worktree: commits the agent's work to its branch and merges it into the parent's tree.
 */
import { rmdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Settlement, SettleOptions, SettleResult } from '../../protocol/tools/worktrees.js';
import { type GitRepository, openRepository, type WorktreeHome } from '../git/git-repository.js';
import { GitTree, LISTING_BYTES, namesIn, utf8Name } from '../git/git-tree.js';
import { threeWayMerge } from './three-way-merge.js';
import {
  baseCommitIn,
  isCheckedOut,
  lockReason,
  lockWorktree,
  worktreeAdmin,
} from './worktree-admin.js';

/** Larger patches are cut. The branch has the complete work. */
const MAX_DIFF_BYTES = 16 * 1024 * 1024;

export const NO_DIFF = new Uint8Array();

/** Never rejects. */
export const settleWorktree = async (
  home: WorktreeHome,
  options: SettleOptions,
): Promise<SettleResult> => {
  let diff: Uint8Array = NO_DIFF;
  try {
    const repository = await openRepository(options.place.top, home.environment);
    const work = await collectWork(home, repository, options);
    if (work === undefined) return { settlement: { kind: 'unchanged' }, diff };
    if (work.isUnchanged && options.keepsFolder) return { settlement: { kind: 'unchanged' }, diff };
    if (work.isUnchanged)
      return { settlement: await removeUnchanged(repository, work, options), diff };
    diff = await patchBetween(repository.tree, work.base, work.commit);
    return { settlement: await mergeBack(home, repository, work, options), diff };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { settlement: { kind: 'kept', why }, diff };
  }
};

export interface CommittedWork {
  /** Worktree of the agent. Undefined if its folder is gone. */
  readonly own: GitTree | undefined;
  readonly base: string;
  readonly commit: string;
  /** Tree object of `commit`. */
  readonly tree: string;
  readonly isUnchanged: boolean;
}

export type CollectWorkOptions = Pick<SettleOptions, 'place' | 'agent' | 'ignoredFiles' | 'merged'>;

/** Commits the work in the folder. Returns undefined if there is neither a folder nor a branch. */
export const collectWork = async (
  { environment }: WorktreeHome,
  { tree, common }: GitRepository,
  options: CollectWorkOptions,
): Promise<CommittedWork | undefined> => {
  const { path, branch, base: startBase } = options.place;
  const admin = worktreeAdmin(common, path);
  const isThere = admin !== undefined && isCheckedOut(admin, path);
  const own = isThere ? await GitTree.open(path, admin, environment) : undefined;
  const base =
    (admin === undefined ? undefined : baseCommitIn(admin)) ?? options.merged ?? startBase;
  const commit =
    own === undefined || admin === undefined
      ? await tree.find(`refs/heads/${branch}^{commit}`)
      : await commitWork(own, admin, options);
  if (commit === undefined) return undefined;
  const contents = await tree.treeOf(commit);
  const isUnchanged = contents === (await tree.treeOf(base));
  return { own, base, commit, tree: contents, isUnchanged };
};

/** Commits all files of the folder on top of the agent's own commits, on any branch. */
const commitWork = async (
  own: GitTree,
  admin: string,
  { place, agent, ignoredFiles }: CollectWorkOptions,
): Promise<string> => {
  const ref = `refs/heads/${place.branch}`;
  const { tree } = await own.snapshot(join(admin, 'index'), {
    excluded: [],
    included: ignoredFiles,
  });
  const head = await own.find('HEAD^{commit}');
  const tip = await own.find(`${ref}^{commit}`);
  const parents = [...new Set([head, tip].flatMap((parent) => parent ?? []))];
  const isCommitted = head !== undefined && head === tip && (await own.treeOf(head)) === tree;
  const commit = isCommitted ? head : await own.commit(tree, parents, `The work of agent ${agent}`);
  if (commit !== tip) await own.run(['update-ref', ref, commit, tip ?? '']);
  await own.run(['symbolic-ref', 'HEAD', ref]);
  return commit;
};

const mergeBack = async (
  home: WorktreeHome,
  repository: GitRepository,
  work: CommittedWork,
  { agent, place, beforeMerge, keepsFolder = false }: SettleOptions,
): Promise<Settlement> => {
  const { tree, directory, common } = repository;
  const { base, commit } = work;
  const files = await namesChanged(tree, base, commit);
  const conflicts = await threeWayMerge({
    tree,
    directory,
    base,
    work: work.tree,
    files,
    beforeMerge,
    excluded: home.excluded,
    scratch: join(home.folder, `.merge-${agent}`),
    keptFolders: [join(place.top, relative(place.path, place.cwd))],
  });
  if (conflicts.length > 0) return { kind: 'conflict', files, commit, conflicts: [...conflicts] };
  if (keepsFolder) {
    lockWorktree(common, place.path, lockReason(agent, commit));
    return { kind: 'merged', files, commit };
  }
  const isLeft = !(await removeWorktree(repository, work, place.path));
  return { kind: 'merged', files, commit, ...(isLeft && { isLeft }) };
};

/** Removes the worktree, and its branch if it has no commits besides the base. */
const removeUnchanged = async (
  repository: GitRepository,
  work: CommittedWork,
  { place, merged }: SettleOptions,
): Promise<Settlement> => {
  if (!(await removeWorktree(repository, work, place.path)))
    return { kind: 'unchanged', isLeft: true };
  if (work.commit === work.base && merged === undefined) {
    await repository.tree.tryRun(['update-ref', '-d', `refs/heads/${place.branch}`, work.commit]);
  }
  return { kind: 'unchanged' };
};

/** Removes the folder. Returns false and keeps it if it has uncommitted files. */
export const removeWorktree = async (
  { tree, common }: GitRepository,
  { own }: CommittedWork,
  path: string,
): Promise<boolean> => {
  if (own !== undefined) {
    if ((await own.changedNames()).length > 0) return false;
    await tree.tryRun(['worktree', 'remove', '-f', '-f', path]);
  }
  try {
    // Remove the session's folder if this was its last worktree.
    rmdirSync(dirname(path));
  } catch {
    // Other worktrees remain.
  }
  return worktreeAdmin(common, path) === undefined;
};

export const namesChanged = async (tree: GitTree, from: string, to: string): Promise<string[]> => {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--name-only', from, to];
  return namesIn((await tree.run(args, { maxBytes: LISTING_BYTES })).bytes).map(utf8Name);
};

export const patchBetween = async (
  tree: GitTree,
  from: string,
  to: string,
): Promise<Uint8Array> => {
  const flags = ['--no-ext-diff', '--no-textconv', '--no-color', '-M', '--ignore-submodules=all'];
  const args = ['diff', ...flags, '--src-prefix=a/', '--dst-prefix=b/', from, to, '--'];
  const answer = await tree.tryRun(args, { maxBytes: MAX_DIFF_BYTES });
  return answer?.bytes ?? NO_DIFF;
};
