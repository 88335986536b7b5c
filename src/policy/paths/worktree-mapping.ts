/** Maps files between an agent's worktree and its parent's tree, and finds writes outside of it. */
import { join } from 'node:path';
import { isPathInside } from '../../lib/paths/is-path-inside.js';
import { pathBelow } from '../../lib/paths/path-below.js';
import type { AnalysedCall } from '../analysed-call.js';

export interface WorktreeMapping {
  /** Root of the worktree, absolute. The agent may write only below it. */
  readonly path: string;
  /** Root of the parent's tree, absolute. Rules name the files of this tree. */
  readonly top: string;
}

/** Maps a file of the parent's tree to the worktree. Returns undefined if the file is in neither tree. */
export const toWorktree = ({ path, top }: WorktreeMapping, file: string): string | undefined => {
  if (isPathInside({ path: file, folder: path })) return file;
  const below = pathBelow({ path: file, folder: top });
  return below === undefined ? undefined : join(path, below);
};

/** Maps the lead's roots to the agent's roots. Added directories outside of the trees stay as they are. */
export const rootsIn = (
  trees: readonly WorktreeMapping[],
  [workspace, ...added]: readonly [string, ...string[]],
): readonly [string, ...string[]] => {
  const mapped = (root: string) =>
    trees.reduceRight((path, tree) => toWorktree(tree, path) ?? path, root);
  return [mapped(workspace), ...added.map(mapped)];
};

/** Maps a file of the innermost worktree to the workspace of the lead, through all trees in between. */
export const toParentTree =
  (trees: readonly WorktreeMapping[]) =>
  (file: string): string =>
    trees.reduce((mapped, { path, top }) => {
      const below = pathBelow({ path: mapped, folder: path });
      return below === undefined ? mapped : join(top, below);
    }, file);

/**
 * Returns a path outside of the agent's worktree that a call would write. For a command with effects, also a
 * path or directory in one of the parent trees that the command names or runs in. Returns undefined if the
 * agent has no worktree or the call stays inside.
 */
export const pathOutside = (
  call: AnalysedCall,
  trees: readonly WorktreeMapping[],
): string | undefined => {
  const [own] = trees;
  if (own === undefined) return undefined;
  const isOutside = (path: string) => !isPathInside({ path, folder: own.path });
  const { request, command = [], paths, namedPaths } = call;
  if (command.length === 0) {
    return request.subject.action === 'write' ? paths.find(isOutside) : undefined;
  }
  const redirected = command
    .flatMap(({ redirects }) => redirects)
    .flatMap(({ writes, paths: targets = [] }) => (writes ? targets : []))
    .find(isOutside);
  if (redirected !== undefined || request.readOnly) return redirected;
  const isInParentTree = (path: string) =>
    trees.some(({ top }) => isPathInside({ path, folder: top }));
  const dirs = command.flatMap(({ part }) => part.dirs);
  return [...namedPaths.flat(), ...dirs].find((path) => isOutside(path) && isInParentTree(path));
};
