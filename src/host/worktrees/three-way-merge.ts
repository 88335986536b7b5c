/**
 * Brings the work of a branch into a working tree as it is on disk now: a merge of three, between what the
 * work began with, the tree, and the branch. Clean, and only the files that differ are written; or not,
 * and nothing is. The index and the branch of the tree stay as they are.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';
import {
  copyIndex,
  type GitTree,
  gitFailure,
  isUtf8Name,
  LISTING_BYTES,
  namesIn,
  utf8Name,
} from '../git/git-tree.js';
import {
  applyTree,
  CHANGED_MEANWHILE,
  inspectTargets,
  type MergeProblem,
  type TreeChange,
} from './apply-tree.js';

export interface ThreeWayMergeOptions {
  /** The tree that the work goes to. */
  readonly tree: GitTree;
  /** Where git keeps the index of that tree. */
  readonly directory: string;
  readonly base: string;
  /** The tree object of the work. */
  readonly work: string;
  /** Names of the files that it changed. */
  readonly files: readonly string[];
  /** Absolute: a folder of its own, which is made, and goes again. */
  readonly scratch: string;
  readonly excluded: readonly string[];
  /** Folders that stay also when they are empty, absolute. */
  readonly keptFolders: readonly string[];
  readonly beforeMerge: (paths: readonly string[]) => Promise<void>;
}

/** What is in the way; empty when the work is in the tree. Rejects with a WorktreeRefusal. */
export const threeWayMerge = async (
  order: ThreeWayMergeOptions,
): Promise<readonly MergeProblem[]> => {
  const { scratch } = order;
  // What a process left that died in the middle of the same merge.
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  try {
    return await mergeBy(order, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

const mergeBy = async (
  order: ThreeWayMergeOptions,
  scratch: string,
): Promise<readonly MergeProblem[]> => {
  const { tree, directory, base, work, excluded: without, files } = order;
  // What the agent has changed counts here too, also where git ignores it.
  const wanted = files.map((name) => join(tree.top, name));
  const present = await tree.snapshot(copyIndex(directory, join(scratch, 'index')), {
    excluded: without,
    included: wanted,
  });
  const ours = await tree.commit(present.tree, [base], 'The tree as it is');
  const theirs = await tree.commit(work, [base], 'The work of an agent');
  const answer = await tree.tryRun(
    ['merge-tree', '--write-tree', '--no-messages', '--name-only', '-z', ours, theirs],
    { maxBytes: LISTING_BYTES },
  );
  if (answer === undefined || (answer.code !== 0 && answer.code !== 1)) {
    return [{ path: '', why: `git could not merge: ${gitFailure(answer)}` }];
  }
  const [merged = '', ...names] = namesIn(answer.bytes);
  if (answer.code === 1) return names.map((name) => ({ path: utf8Name(name), why: BOTH_CHANGED }));
  const { changes, troubles } = await changesBetween(tree, present.tree, merged);
  if (troubles.length > 0 || changes.length === 0) return troubles;
  const drafts = await draft(tree, merged, changes, scratch);
  const seen = inspectTargets(tree.top, changes);
  if (seen.troubles.length > 0) return seen.troubles;
  const paths = changes.map(({ name }) => join(tree.top, name));
  await order.beforeMerge(paths);
  // Whatever changed since the picture was taken is not what was merged.
  const changed = new Set((await tree.changedNames(present.index)).map(utf8Name));
  const late = changes.filter(({ name, from }) => from !== undefined && changed.has(name));
  if (late.length > 0) return late.map(({ name: path }) => ({ path, why: CHANGED_MEANWHILE }));
  const { top } = tree;
  return applyTree({ top, changes, drafts, seen: seen.seen, keptFolders: order.keptFolders });
};

const BOTH_CHANGED = 'both sides have changed it';

/** `:100644 100755 <object> <object> M`, and the name behind it. */
const changesBetween = async (
  tree: GitTree,
  from: string,
  to: string,
): Promise<{
  readonly changes: readonly TreeChange[];
  readonly troubles: readonly MergeProblem[];
}> => {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to];
  const parts = namesIn((await tree.run(args, { maxBytes: LISTING_BYTES })).bytes);
  const changes: TreeChange[] = [];
  const troubles: MergeProblem[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [old = '', mode = ''] = (parts[at] ?? '').slice(1).split(' ');
    const name = parts[at + 1] ?? '';
    const path = utf8Name(name);
    if (old === MODULE || mode === MODULE) troubles.push({ path, why: 'it is a submodule' });
    else if (!isUtf8Name(name) || path.split(sep).includes('..')) {
      troubles.push({ path, why: 'its name is no text' });
    } else changes.push({ name: path, from: present(old), to: present(mode) });
  }
  return { changes, troubles };
};

const MODULE = '160000';
const present = (mode: string): string | undefined => (mode === '000000' ? undefined : mode);

/** The new files as they are written here: with the line ends that the tree has. */
const draft = async (
  tree: GitTree,
  merged: string,
  changes: readonly TreeChange[],
  scratch: string,
): Promise<string> => {
  const index = join(scratch, 'merged-index');
  await tree.run(['read-tree', merged], { index });
  const names = changes.flatMap(({ name, to }) => (to === undefined ? [] : [`${name}\0`]));
  const input = Buffer.from(names.join(''));
  const drafts = join(scratch, 'new');
  await tree.run(['checkout-index', '-z', '--stdin', `--prefix=${drafts}${sep}`], {
    index,
    input,
  });
  return drafts;
};
