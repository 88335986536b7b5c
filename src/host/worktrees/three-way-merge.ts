/**
 * Three-way merge of a branch into the current files of a working tree, based on the start commit
 * of the work. Writes only the files that differ, and none if there is a conflict. Index and branch
 * of the tree stay unchanged.
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
  /** Tree to merge into. */
  readonly tree: GitTree;
  /** Git directory of that tree. */
  readonly directory: string;
  readonly base: string;
  /** Tree object of the work. */
  readonly work: string;
  /** Names of the files changed by the work. */
  readonly files: readonly string[];
  /** Temporary folder, absolute. Created and removed by the merge. */
  readonly scratch: string;
  readonly excluded: readonly string[];
  /** Folders to keep even if empty, absolute. */
  readonly keptFolders: readonly string[];
  readonly beforeMerge: (paths: readonly string[]) => Promise<void>;
}

/** Returns the conflicts. Returns an empty list if the work is merged. Rejects with WorktreeRefusal. */
export const threeWayMerge = async (
  options: ThreeWayMergeOptions,
): Promise<readonly MergeProblem[]> => {
  const { scratch } = options;
  // Remove the remains of a process that died during the same merge.
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  try {
    return await mergeInto(options, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

const mergeInto = async (
  options: ThreeWayMergeOptions,
  scratch: string,
): Promise<readonly MergeProblem[]> => {
  const { tree, directory, base, work, excluded, files } = options;
  // Include files that the agent changed, even if git ignores them in this tree.
  const included = files.map((name) => join(tree.top, name));
  const snapshot = await tree.snapshot(copyIndex(directory, join(scratch, 'index')), {
    excluded,
    included,
  });
  const ours = await tree.commit(snapshot.tree, [base], 'The tree as it is');
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
  const { changes, problems } = await changesBetween(tree, snapshot.tree, merged);
  if (problems.length > 0 || changes.length === 0) return problems;
  const drafts = await checkOutDrafts(tree, merged, changes, scratch);
  const targets = inspectTargets(tree.top, changes);
  if (targets.problems.length > 0) return targets.problems;
  const paths = changes.map(({ name }) => join(tree.top, name));
  await options.beforeMerge(paths);
  // Files that changed since the snapshot were not part of the merge.
  const changed = new Set((await tree.changedNames(snapshot.index)).map(utf8Name));
  const changedSince = changes.filter(({ name, from }) => from !== undefined && changed.has(name));
  if (changedSince.length > 0)
    return changedSince.map(({ name: path }) => ({ path, why: CHANGED_MEANWHILE }));
  const { top } = tree;
  return applyTree({
    top,
    changes,
    drafts,
    inspected: targets.inspected,
    keptFolders: options.keptFolders,
  });
};

const BOTH_CHANGED = 'both sides have changed it';

/** Parses `:100644 100755 <object> <object> M` records, each followed by a name. */
const changesBetween = async (
  tree: GitTree,
  from: string,
  to: string,
): Promise<{
  readonly changes: readonly TreeChange[];
  readonly problems: readonly MergeProblem[];
}> => {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to];
  const parts = namesIn((await tree.run(args, { maxBytes: LISTING_BYTES })).bytes);
  const changes: TreeChange[] = [];
  const problems: MergeProblem[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [old = '', mode = ''] = (parts[at] ?? '').slice(1).split(' ');
    const name = parts[at + 1] ?? '';
    const path = utf8Name(name);
    if (old === MODULE || mode === MODULE) problems.push({ path, why: 'it is a submodule' });
    else if (!isUtf8Name(name) || path.split(sep).includes('..')) {
      problems.push({ path, why: 'its name is not valid UTF-8' });
    } else changes.push({ name: path, from: existingMode(old), to: existingMode(mode) });
  }
  return { changes, problems };
};

const MODULE = '160000';
const existingMode = (mode: string): string | undefined => (mode === '000000' ? undefined : mode);

/** Checks out the new files to a draft folder, with the line ends of the tree. */
const checkOutDrafts = async (
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
