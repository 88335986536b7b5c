/** Finds the git repository around a directory by reading its files, without a git process. */

import { basename, dirname, join, resolve } from 'node:path';
import { isPathInside } from '../lib/paths/is-path-inside.js';
import type { MemoryDisk } from '../protocol/tools/memory.js';
import { decodeText } from './decode-text.js';
import { MEMORY_LIMITS } from './memory-limits.js';
import { ancestors } from './memory-locations.js';

export interface EnclosingRepository {
  /** Top folder, as named from the working directory. Undefined outside of a repository. */
  readonly top: string | undefined;
  /** Working tree of the main repository, if `top` is a worktree inside of it. */
  readonly mainTree: string | undefined;
}

/** Ignores a `.git` of another user, because any user can create one in a shared folder such as /tmp. */
export const findRepository = async (
  cwd: string,
  disk: MemoryDisk,
): Promise<EnclosingRepository> => {
  const resolvedCwd = await disk.resolve(cwd);
  const trusted = new Set([disk.user, 0, ...(resolvedCwd?.owners ?? [])]);
  for (const directory of ancestors(cwd).slice(0, MEMORY_LIMITS.ancestors)) {
    const git = await disk.resolve(join(directory, '.git'));
    if (git === undefined || !git.owners.every((owner) => trusted.has(owner))) continue;
    const mainTreePath =
      git.kind === 'file' ? await mainTree(directory, git.real, disk) : undefined;
    return { top: directory, mainTree: mainTreePath };
  }
  return { top: undefined, mainTree: undefined };
};

/**
 * Returns the main working tree of a worktree. The worktree's `.git` file names its folder in the main repository,
 * and the `gitdir` file there names the worktree. Checks both, because otherwise any folder could claim to be a
 * worktree and hide the instructions around it.
 */
const mainTree = async (top: string, git: string, disk: MemoryDisk) => {
  const folder = /^gitdir: (.+)$/m.exec(await firstLine(git, disk))?.[1];
  if (folder === undefined) return undefined;
  const own = resolve(top, folder);
  const [back, common] = await Promise.all([
    firstLine(join(own, 'gitdir'), disk),
    firstLine(join(own, 'commondir'), disk),
  ]);
  if (back === '' || common === '') return undefined;
  const [returned, main] = await Promise.all([
    disk.resolve(resolve(own, back)),
    disk.resolve(resolve(own, common)),
  ]);
  if (returned?.real !== git || main === undefined || basename(main.real) !== '.git') {
    return undefined;
  }
  const tree = dirname(main.real);
  return isPathInside({ path: git, folder: tree }) ? tree : undefined;
};

const MAX_POINTER_BYTES = 8_192;

const firstLine = async (path: string, disk: MemoryDisk): Promise<string> => {
  const resolved = await disk.resolve(path);
  if (resolved?.kind !== 'file') return '';
  const bytes = await disk.read(resolved.real, MAX_POINTER_BYTES);
  return typeof bytes === 'string' ? '' : (decodeText(bytes).split('\n', 1)[0] ?? '').trim();
};
