/** Git repository of a folder, checked for the requirements of agent worktrees. */
import { realpathSync } from 'node:fs';
import { WorktreeRefusal } from '../../protocol/tools/worktrees.js';
import { findGitDirectory } from './find-git-directory.js';
import { GitTree } from './git-tree.js';

/** Location for agent worktrees. */
export interface WorktreeHome {
  /** Root folder, with a folder per session and in it a folder per agent. */
  readonly folder: string;
  /** Folders that are never part of a snapshot, absolute: the state directory. */
  readonly excluded: readonly string[];
  /** Environment of git. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Repository with the working tree that work is merged into. */
export interface GitRepository {
  readonly tree: GitTree;
  /** Git directory of the tree. */
  readonly directory: string;
  /** Git directory shared by all trees of the repository. */
  readonly common: string;
}

/** Throws WorktreeRefusal. */
export const repositoryAt = (cwd: string): { readonly top: string; readonly directory: string } => {
  const location = findGitDirectory(cwd);
  if (location?.top === undefined) {
    throw new WorktreeRefusal(
      `Worktrees of agents need the working tree of a git repository, and ${cwd} is not in one.`,
    );
  }
  return { top: location.top, directory: location.directory };
};

/** Rejects with WorktreeRefusal. */
export const openRepository = async (
  cwd: string,
  environment: WorktreeHome['environment'],
): Promise<GitRepository> => {
  const { top, directory } = repositoryAt(cwd);
  const tree = await GitTree.open(top, directory, environment);
  const version = (await tree.run(['version'])).text;
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  if (major < 2 || (major === 2 && minor < 38)) {
    throw new WorktreeRefusal(
      `Worktrees of agents need git 2.38 or newer to merge work back; this is ${version.trim()}.`,
    );
  }
  const args = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
  const common = realPathOf((await tree.run(args)).text.replace(/\n$/, ''));
  return { tree, directory, common };
};

/** Returns the real path, or the path itself if it does not exist. */
export const realPathOf = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};
