/** Lists leftover worktrees of agents, and sweeps those without unsaved work. */
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { openRepository, realPathOf, type WorktreeHome } from '../git/git-repository.js';
import { GitTree } from '../git/git-tree.js';
import { baseCommitIn, isCheckedOut, worktreeAdmin } from './worktree-admin.js';

export interface LeftoverWorktree {
  readonly session: string;
  readonly path: string;
  /** Modification time of the folder, in milliseconds since 1970. */
  readonly changedAt: number;
}

/** Never throws. */
export const leftoverWorktrees = (folder: string): readonly LeftoverWorktree[] =>
  foldersIn(folder).flatMap((session) =>
    foldersIn(join(folder, session)).map((agent) => {
      const path = realPathOf(join(folder, session, agent));
      return { session, path, changedAt: fs.statSync(path).mtimeMs };
    }),
  );

const foldersIn = (folder: string): readonly string[] => {
  try {
    const entries = fs.readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name);
  } catch {
    return [];
  }
};

/**
 * Removes the worktree if it is unchanged or a ref outside of `agent/` contains its work. Otherwise returns
 * the reason for keeping it. Never rejects.
 */
export const sweepWorktree = async (
  path: string,
  home: WorktreeHome,
  dryRun: boolean,
): Promise<'removed' | { readonly kept: string }> => {
  try {
    return await sweep(path, home, dryRun);
  } catch (error) {
    return { kept: error instanceof Error ? error.message : String(error) };
  }
};

const sweep = async (
  path: string,
  { environment }: WorktreeHome,
  dryRun: boolean,
): Promise<'removed' | { readonly kept: string }> => {
  const { tree, common } = await openRepository(path, environment);
  const admin = worktreeAdmin(common, path);
  const base = admin === undefined ? undefined : baseCommitIn(admin);
  if (tree.top !== path || admin === undefined || base === undefined) {
    return { kept: 'it is not a worktree of an agent' };
  }
  if (!isCheckedOut(admin, path)) return { kept: 'its checkout is incomplete' };
  const own = await GitTree.open(path, admin, environment);
  if ((await own.changedNames()).length > 0)
    return { kept: 'it has changes that are on no branch' };
  const commit = await own.find('HEAD^{commit}');
  if (commit === undefined) return { kept: 'it has no commit' };
  const isUnchanged = (await own.treeOf(commit)) === (await own.treeOf(base));
  const holders = isUnchanged ? [] : await holdersOf(own, commit);
  if (!isUnchanged && holders.length === 0) {
    return { kept: `its work is on the branch ${await branchOf(own)} only` };
  }
  if (dryRun) return 'removed';
  const main = await GitTree.open(dirname(common), common, environment);
  await main.run(['worktree', 'remove', '-f', '-f', path]);
  return 'removed';
};

/** Returns the refs outside of `agent/` that contain the commit. */
const holdersOf = async (tree: GitTree, commit: string): Promise<readonly string[]> => {
  const args = ['for-each-ref', '--format=%(refname)', `--contains=${commit}`];
  const { text } = await tree.run([...args, 'refs/heads', 'refs/remotes', 'refs/tags']);
  return text.split('\n').filter((name) => name !== '' && !name.startsWith('refs/heads/agent/'));
};

const branchOf = async (tree: GitTree): Promise<string> =>
  (await tree.tryRun(['symbolic-ref', '-q', '--short', 'HEAD']))?.text.trim() || '(none)';
