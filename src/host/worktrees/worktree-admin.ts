/** Admin folders of a repository's worktrees, read without git: agent, base commit and lock. */
import {
  existsSync as exists,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Returns git's admin folder of the worktree at a path. Returns undefined if git knows no such worktree. */
export const worktreeAdmin = (common: string, path: string): string | undefined => {
  const expected = join(realParent(path), '.git');
  return admins(common).find((admin) => {
    const gitdir = readText(join(admin, 'gitdir'))?.trimEnd();
    const isWhole = readText(join(admin, 'HEAD')) !== undefined;
    return (
      gitdir !== undefined && isWhole && join(realParent(dirname(gitdir)), '.git') === expected
    );
  });
};

/** Returns the admin folders of all worktrees of a repository. */
export const admins = (common: string): readonly string[] => {
  const folder = join(common, 'worktrees');
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
};

/** Returns the lock reason, which names the agent. The lock also keeps git from pruning the worktree. */
export const lockReason = (agent: string, base: string): string =>
  `Skein: agent ${agent} works here, from ${base}`;

/** Replaces the lock reason. A new base only saves the next merge some comparisons. */
export const lockWorktree = (common: string, path: string, reason: string): void => {
  const admin = worktreeAdmin(common, path);
  if (admin === undefined) return;
  writeFileSync(join(admin, 'locked.new'), reason);
  renameSync(join(admin, 'locked.new'), join(admin, 'locked'));
};

const REASON = /^Skein: agent [\w-]+ works here, from ([0-9a-f]{40,64})\s*$/;

/** Returns the start commit of the agent. Returns undefined if the worktree is not an agent's. */
export const baseCommitIn = (admin: string): string | undefined =>
  REASON.exec(readText(join(admin, 'locked')) ?? '')?.[1];

/** True if all files are checked out: git writes the index last. Does not read the `.git` file, which agents can change. */
export const isCheckedOut = (admin: string, path: string): boolean =>
  exists(join(admin, 'index')) && exists(path);

/** True if the path does not exist or contains only `.git`. */
export const isEmptyShell = (path: string): boolean => {
  try {
    return readdirSync(path).every((name) => name === '.git');
  } catch {
    return true;
  }
};

const realParent = (path: string): string => {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
};

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
