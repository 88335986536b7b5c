/** Finds the git directory of a folder and its checked-out branch, without a git process. */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export interface GitLocation {
  /** Git directory with HEAD. A worktree has its own. */
  readonly directory: string;
  /** Top folder of the working tree. Undefined in a bare repository. */
  readonly top: string | undefined;
}

/** Branch name that stands for a detached HEAD. */
export const DETACHED_HEAD = 'HEAD';

/** Returns undefined outside of a repository. Never throws. */
export const findGitDirectory = (cwd: string): GitLocation | undefined => {
  try {
    return search(realpathSync(cwd));
  } catch {
    return undefined;
  }
};

/**
 * Returns a function that reads the current branch: `HEAD` if detached, undefined if unknown. Finds the repository
 * once and then reads a single file, so the function is cheap enough for every turn.
 */
export const branchReader = (cwd: string): (() => string | undefined) => {
  let location: GitLocation | undefined | null = null;
  return () => {
    location = location === null ? findGitDirectory(cwd) : location;
    return location && branchIn(location);
  };
};

const branchIn = ({ directory }: GitLocation): string | undefined => {
  const head = readStart(join(directory, 'HEAD'));
  if (head === undefined) return undefined;
  const branch = /^ref: refs\/heads\/([^\n]+)\n?$/.exec(head)?.[1];
  if (branch !== undefined) return branchName(branch);
  return /^[0-9a-f]{40,64}\n?$/.test(head) ? DETACHED_HEAD : undefined;
};

const MAX_BRANCH_LENGTH = 200;
/** Characters that git forbids in branch names. A HEAD file written by hand could contain any text. */
const INVALID_IN_BRANCH = /[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}~^:?*[\\]|\.\.|@\{|^[./]/u;

/**
 * Returns undefined for an invalid branch name, such as `.invalid` with reftable storage. Cuts long names, because
 * the name becomes part of a prompt and must have no room for injected text.
 */
export const branchName = (name: string): string | undefined => {
  if (INVALID_IN_BRANCH.test(name)) return undefined;
  const start = name.slice(0, MAX_BRANCH_LENGTH).toWellFormed();
  return name.length > MAX_BRANCH_LENGTH ? `${start}…` : start;
};

const search = (start: string): GitLocation | undefined => {
  const isTrusted = ownersOf(start);
  for (let folder = start; ; folder = dirname(folder)) {
    const dotGit = join(folder, '.git');
    const stats = statSync(dotGit, { throwIfNoEntry: false });
    const trusted = stats !== undefined && isTrusted(stats.uid) ? stats : undefined;
    if (trusted?.isFile()) {
      const directory = linkedDirectory(dotGit, folder);
      return directory === undefined ? undefined : { directory, top: folder };
    }
    if (trusted?.isDirectory() && isGitDirectory(dotGit)) return { directory: dotGit, top: folder };
    if (isGitDirectory(folder) && isTrusted(statSync(folder).uid)) {
      return { directory: folder, top: undefined };
    }
    if (dirname(folder) === folder) return undefined;
  }
};

/** Accepts the current user, root and the owner of `start`, because any user can create a `.git` in /tmp. */
const ownersOf = (start: string): ((owner: number) => boolean) => {
  const user = process.getuid?.();
  const trustedOwners = new Set([0, user, statSync(start).uid]);
  return (owner) => user === undefined || trustedOwners.has(owner);
};

/** Reads the `.git` file of a worktree or a submodule, which contains the path of the git directory. */
const linkedDirectory = (file: string, folder: string): string | undefined => {
  const link = /^gitdir: ([^\n]+)\n?$/.exec(readStart(file) ?? '')?.[1];
  const directory = link === undefined ? undefined : resolve(folder, link);
  return directory !== undefined && isGitDirectory(directory) ? directory : undefined;
};

const isGitDirectory = (folder: string): boolean =>
  exists(join(folder, 'HEAD')) &&
  (exists(join(folder, 'objects')) || exists(join(folder, 'commondir')));

const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;

const MAX_FILE_BYTES = 8_192;

const readStart = (path: string): string | undefined => {
  let file: number | undefined;
  try {
    // Non-blocking, because the path may be a pipe.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) return undefined;
    const buffer = Buffer.alloc(MAX_FILE_BYTES);
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, MAX_FILE_BYTES, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
};
