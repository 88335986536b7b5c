/** The repository of a folder, checked for what worktrees of agents need of it. */
import { realpathSync } from 'node:fs';
import { WorktreeRefusal } from '../../protocol/tools/worktrees.js';
import { findGitDirectory } from './find-git-directory.js';
import { GitTree } from './git-tree.js';

/** Where worktrees of agents are made. */
export interface WorktreeHome {
  /** A folder for each session, and one for each agent in it. */
  readonly folder: string;
  /** Never part of a picture, absolute: the state directory. */
  readonly excluded: readonly string[];
  /** That of a child process. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A repository, and the tree in it that work goes back to. */
export interface GitRepository {
  readonly tree: GitTree;
  /** That of the tree itself. */
  readonly directory: string;
  /** That of all trees of the repository. */
  readonly common: string;
}

/** Throws a WorktreeRefusal. */
export const repositoryAt = (cwd: string): { readonly top: string; readonly directory: string } => {
  const place = findGitDirectory(cwd);
  if (place?.top === undefined) {
    throw new WorktreeRefusal(
      `An agent can have a worktree of its own only in the working tree of a git repository, and ${cwd} is in none.`,
    );
  }
  return { top: place.top, directory: place.directory };
};

/** Rejects with a WorktreeRefusal. */
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
      `Worktrees of agents need git 2.38 or newer to bring work back, and this is ${version.trim()}.`,
    );
  }
  const args = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
  const common = realPathOf((await tree.run(args)).text.replace(/\n$/, ''));
  return { tree, directory, common };
};

/** Links followed, as far as there is anything. */
export const realPathOf = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};
