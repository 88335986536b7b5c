/** A working tree that an agent has to itself: which files of another tree its own stand for, and what lies outside. */
import { join } from 'node:path';
import type { AnalysedCall } from '../analysed-call.js';
import { isInside, pathBelow } from './path-policy.js';

export interface WorktreeMapping {
  /** Absolute: all that the agent may write. */
  readonly path: string;
  /** The tree that it stands for, which rules speak of. */
  readonly top: string;
}

/** The same file in the tree of its own; undefined when it is in neither. */
export const toWorktree = ({ path, top }: WorktreeMapping, place: string): string | undefined => {
  if (isInside(path, place)) return place;
  const below = pathBelow(top, place, false);
  return below === undefined ? undefined : join(path, below);
};

/** What an agent works in, where the lead works in these: added directories stay where they are. */
export const rootsIn = (
  trees: readonly WorktreeMapping[],
  [workspace, ...added]: readonly [string, ...string[]],
): readonly [string, ...string[]] => {
  const stands = (root: string) =>
    trees.reduceRight((place, tree) => toWorktree(tree, place) ?? place, root);
  return [stands(workspace), ...added.map(stands)];
};

/** The file that one of its own stands for, through all trees between. */
export const toParentTree =
  (trees: readonly WorktreeMapping[]) =>
  (place: string): string =>
    trees.reduce((at, { path, top }) => {
      const below = pathBelow(path, at, false);
      return below === undefined ? at : join(top, below);
    }, place);

/**
 * What a call would write outside of the agent's own tree: files, redirections, and for a command with
 * effects whatever it names in a tree that this one came from, or where it would run there.
 */
export const pathOutside = (
  call: AnalysedCall,
  trees: readonly WorktreeMapping[],
): string | undefined => {
  const [own] = trees;
  if (own === undefined) return undefined;
  const isOutside = (place: string) => !isInside(own.path, place);
  const { request, command = [], places, named } = call;
  if (command.length === 0) {
    return request.subject.action === 'write' ? places.find(isOutside) : undefined;
  }
  const redirected = command
    .flatMap(({ redirects }) => redirects)
    .flatMap(({ writes, places: targets = [] }) => (writes ? targets : []))
    .find(isOutside);
  if (redirected !== undefined || request.readOnly) return redirected;
  const isAbove = (place: string) => trees.some(({ top }) => isInside(top, place));
  const dirs = command.flatMap(({ part }) => part.dirs);
  return [...named.flat(), ...dirs].find((place) => isOutside(place) && isAbove(place));
};
