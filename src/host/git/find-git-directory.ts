/** Where git keeps what it knows of a directory, and which branch is out there: read without git. */
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
  /** With HEAD in it; that of a worktree is its own. */
  readonly directory: string;
  /** Where the files are; undefined in a bare repository. */
  readonly top: string | undefined;
}

/** What HEAD is called when it is on no branch. */
export const DETACHED_HEAD = 'HEAD';

/** Undefined outside of a repository. Never throws. */
export const findGitDirectory = (cwd: string): GitLocation | undefined => {
  try {
    return search(realpathSync(cwd));
  } catch {
    return undefined;
  }
};

/**
 * Tells the branch that is out, `HEAD` when it is none, undefined when that cannot be said. The
 * repository is looked for once; then it is one file that is read, so it may be asked on every turn.
 */
export const branchReader = (cwd: string): (() => string | undefined) => {
  let place: GitLocation | undefined | null = null;
  return () => {
    place = place === null ? findGitDirectory(cwd) : place;
    return place && branchIn(place);
  };
};

const branchIn = ({ directory }: GitLocation): string | undefined => {
  const head = readStart(join(directory, 'HEAD'));
  if (head === undefined) return undefined;
  const branch = /^ref: refs\/heads\/([^\n]+)\n?$/.exec(head)?.[1];
  if (branch !== undefined) return branchName(branch);
  return /^[0-9a-f]{40,64}\n?$/.test(head) ? DETACHED_HEAD : undefined;
};

/** Longer than any name that people give. */
const MAX_BRANCH_LENGTH = 200;
/** What git lets no branch be called: whoever writes HEAD by hand could put sentences there. */
const INVALID_IN_BRANCH = /[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}~^:?*[\\]|\.\.|@\{|^[./]/u;

/**
 * Undefined for what cannot be one, as `.invalid` is where refs are kept in tables. Agents are told of
 * it in our own words, so it must not have room for those of somebody else.
 */
export const branchName = (name: string): string | undefined => {
  if (INVALID_IN_BRANCH.test(name)) return undefined;
  const start = name.slice(0, MAX_BRANCH_LENGTH).toWellFormed();
  return name.length > MAX_BRANCH_LENGTH ? `${start}…` : start;
};

const search = (start: string): GitLocation | undefined => {
  const isOurs = ownersOf(start);
  for (let folder = start; ; folder = dirname(folder)) {
    const dotGit = join(folder, '.git');
    const there = statSync(dotGit, { throwIfNoEntry: false });
    const found = there !== undefined && isOurs(there.uid) ? there : undefined;
    if (found?.isFile()) {
      const directory = linkedDirectory(dotGit, folder);
      return directory === undefined ? undefined : { directory, top: folder };
    }
    if (found?.isDirectory() && isGitDirectory(dotGit)) return { directory: dotGit, top: folder };
    if (isGitDirectory(folder) && isOurs(statSync(folder).uid)) {
      return { directory: folder, top: undefined };
    }
    if (dirname(folder) === folder) return undefined;
  }
};

/** What a stranger put above us, as anybody may in /tmp, makes no repository of ours. */
const ownersOf = (start: string): ((owner: number) => boolean) => {
  const user = process.getuid?.();
  const ours = new Set([0, user, statSync(start).uid]);
  return (owner) => user === undefined || ours.has(owner);
};

/** In a worktree or a submodule `.git` is a file that says where the directory is. */
const linkedDirectory = (file: string, folder: string): string | undefined => {
  const link = /^gitdir: ([^\n]+)\n?$/.exec(readStart(file) ?? '')?.[1];
  const directory = link === undefined ? undefined : resolve(folder, link);
  return directory !== undefined && isGitDirectory(directory) ? directory : undefined;
};

const isGitDirectory = (folder: string): boolean =>
  isThere(join(folder, 'HEAD')) &&
  (isThere(join(folder, 'objects')) || isThere(join(folder, 'commondir')));

const isThere = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Longer than any path or name of a branch that works. */
const MAX_FILE_BYTES = 8_192;

const readStart = (path: string): string | undefined => {
  let file: number | undefined;
  try {
    // Not blocking: a pipe may lie where a file was.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = fstatSync(file);
    if (!found.isFile() || found.size > MAX_FILE_BYTES) return undefined;
    const buffer = Buffer.alloc(MAX_FILE_BYTES);
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, MAX_FILE_BYTES, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
};
