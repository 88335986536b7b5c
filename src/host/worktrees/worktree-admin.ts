/** What a repository has on file of its worktrees, read without git: whose they are and what they began with. */
import {
  existsSync as isThere,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The folder in which git keeps what it knows of the worktree at a path; undefined when it knows of none. */
export const worktreeAdmin = (common: string, path: string): string | undefined => {
  const wanted = join(realParent(path), '.git');
  return admins(common).find((admin) => {
    const said = textAt(join(admin, 'gitdir'))?.trimEnd();
    const isWhole = textAt(join(admin, 'HEAD')) !== undefined;
    return said !== undefined && isWhole && join(realParent(dirname(said)), '.git') === wanted;
  });
};

/** Of all worktrees of a repository. */
export const admins = (common: string): readonly string[] => {
  const folder = join(common, 'worktrees');
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
};

/** The lock says whose a worktree is, and keeps git from taking it for one that nobody needs. */
export const lockReason = (agent: string, base: string): string =>
  `Skein: agent ${agent} works here, from ${base}`;

/** Says another reason; without it the next merge would only have more to compare. */
export const lockWorktree = (common: string, path: string, reason: string): void => {
  const admin = worktreeAdmin(common, path);
  if (admin === undefined) return;
  writeFileSync(join(admin, 'locked.new'), reason);
  renameSync(join(admin, 'locked.new'), join(admin, 'locked'));
};

const REASON = /^Skein: agent [\w-]+ works here, from ([0-9a-f]{40,64})\s*$/;

/** The commit that an agent began with; undefined when the worktree is none of ours. */
export const baseCommitIn = (admin: string): string | undefined =>
  REASON.exec(textAt(join(admin, 'locked')) ?? '')?.[1];

/** All its files were written: git writes the index behind them. Its `.git` is not asked, anybody can change that. */
export const isCheckedOut = (admin: string, path: string): boolean =>
  isThere(join(admin, 'index')) && isThere(path);

/** There is nothing at the path, or nothing but what git itself puts there first. */
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

const textAt = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
