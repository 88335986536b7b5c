/**
 * Agent worktrees of a clone, for a machine without the lead's workspace. Each agent has a worktree
 * on the branch that its work is pushed to. Unpushed work is never removed.
 */
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CloneLocation,
  type Clones,
  type DeliverOptions,
  type MoveOptions,
  type Settlement,
  type SettleResult,
  type WorktreeLocation,
  WorktreeRefusal,
} from '../../protocol/tools/worktrees.js';
import { clonePath, GitClone } from '../git/git-clone.js';
import type { GitRepository, WorktreeHome } from '../git/git-repository.js';
import { GitTree } from '../git/git-tree.js';
import { addWorktree, worktreePath } from './git-worktrees.js';
import {
  collectWork,
  NO_DIFF,
  namesChanged,
  patchBetween,
  removeWorktree,
} from './settle-worktree.js';
import { isCheckedOut, worktreeAdmin } from './worktree-admin.js';

/** Commit that the lead started with, and the remote that has it. */
export interface CloneSource {
  readonly url: string;
  readonly commit: string;
  /** Branch checked out in the lead's workspace, as shown to agents. */
  readonly branch?: string;
  /** Folder of the lead relative to the top of its repository. Empty at the top. */
  readonly prefix: string;
  /** Top folder of the lead's tree, as shown to agents. */
  readonly top: string;
  /** Name of this machine. */
  readonly host: string;
  /** True if the lead's workspace is not on this machine. */
  readonly isAway: boolean;
}

export interface CloneWorktrees extends Clones {
  /** Checks out the lead's start commit to read settings and agents. Rejects with WorktreeRefusal. */
  workspace(session: string): Promise<string>;
}

export const cloneWorktrees = (home: WorktreeHome, source: CloneSource): CloneWorktrees => {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
  const { host, isAway } = source;
  return {
    lacksWorkspace: isAway,
    isHere: ({ host: cloneHost, url, place }) =>
      cloneHost === host && isWhole(clonePath(home.folder, url), place.path),
    workspace: (session) => inTurn(() => checkOut(home, source, session)),
    move: (options) => inTurn(() => move(home, source, options)),
    deliver: (options) => inTurn(() => deliver(home, host, options)),
  };
};

const isWhole = (clone: string, path: string): boolean => {
  const admin = worktreeAdmin(clone, path);
  return admin !== undefined && isCheckedOut(admin, path);
};

const checkOut = async (
  home: WorktreeHome,
  { url, commit, prefix, branch }: CloneSource,
  session: string,
): Promise<string> => {
  const agent = `at-${commit.slice(0, 12)}`;
  const path = worktreePath(home, { session, agent });
  const clone = await GitClone.open(home, url);
  if (!isWhole(clone.directory, path)) {
    await clone.fetch(commit);
    const repository = await clone.repository();
    const adding = addWorktree(home, repository, { path, branch: commit, base: commit, agent });
    await adding.catch((error: unknown) => {
      // Ignore the error if another process has created the worktree meanwhile.
      if (!isWhole(clone.directory, path)) throw error;
    });
    if (branch !== undefined) await nameBranch(home, clone, path, branch, commit);
  }
  return folderIn(path, prefix);
};

/** Names the branch as in the lead's tree, so that agents see the same branch. */
const nameBranch = async (
  { environment }: WorktreeHome,
  { directory }: GitClone,
  path: string,
  branch: string,
  commit: string,
): Promise<void> => {
  const admin = worktreeAdmin(directory, path);
  if (admin === undefined) return;
  const worktree = await GitTree.open(path, admin, environment);
  await worktree.tryRun(['update-ref', `refs/heads/${branch}`, commit]);
  await worktree.tryRun(['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
};

const move = async (
  home: WorktreeHome,
  { url, commit, prefix, top, host }: CloneSource,
  { session, agent, before }: MoveOptions,
): Promise<CloneLocation> => {
  const path = worktreePath(home, { session, agent });
  const branch = `agent/${agent}`;
  const clone = await GitClone.open(home, url);
  const pushed = before === undefined ? undefined : await clone.tipOf(branch);
  await clone.fetch(commit);
  if (pushed !== undefined) await clone.fetch(pushed, branch);
  const tip = pushed ?? commit;
  const repository = await clone.repository();
  const place = { path, branch, base: commit, top };
  await saveLeftovers(home, repository, { ...place, cwd: path }, agent);
  await repository.tree.run(['update-ref', `refs/heads/${branch}`, tip]);
  await addWorktree(home, repository, { path, branch, base: commit, agent });
  return { host, url, tip, place: { ...place, cwd: folderIn(path, prefix) } };
};

/** Saves earlier work of the agent on this machine to a `left/` branch, then removes its worktree. */
const saveLeftovers = async (
  home: WorktreeHome,
  repository: GitRepository,
  place: WorktreeLocation,
  agent: string,
): Promise<void> => {
  const { tree, common } = repository;
  const { path } = place;
  if (isWhole(common, path)) {
    const work = await collectWork(home, repository, {
      agent,
      place,
      ignoredFiles: [],
      merged: undefined,
    });
    if (work !== undefined && work.commit !== place.base) {
      const leftRef = `refs/heads/left/${agent}-${work.commit.slice(0, 12)}`;
      await tree.run(['update-ref', leftRef, work.commit]);
    }
  }
  if (worktreeAdmin(common, path) !== undefined) {
    await tree.run(['worktree', 'remove', '-f', '-f', path]);
  }
  rmSync(path, { recursive: true, force: true });
};

/** Never rejects. */
const deliver = async (
  home: WorktreeHome,
  thisHost: string,
  { agent, cloned, ignoredFiles, keepsFolder = false }: DeliverOptions,
): Promise<SettleResult> => {
  const { place, url, host } = cloned;
  let diff: Uint8Array = NO_DIFF;
  try {
    const clone = await GitClone.open(home, url);
    if (host !== thisHost) return { settlement: await pushedBy(clone, cloned), diff };
    const repository = await clone.repository();
    const work = await collectWork(home, repository, {
      agent,
      place,
      ignoredFiles,
      merged: undefined,
    });
    if (work === undefined) return { settlement: { kind: 'unchanged' }, diff };
    const { base, commit } = work;
    if (commit === base) {
      const isLeft = !(keepsFolder || (await removeWorktree(repository, work, place.path)));
      return { settlement: { kind: 'unchanged', ...(isLeft && { isLeft }) }, diff };
    }
    diff = await patchBetween(repository.tree, base, commit);
    const files = await namesChanged(repository.tree, base, commit);
    await clone.push(commit, place.branch);
    if (!keepsFolder) await removeWorktree(repository, work, place.path);
    return { settlement: { kind: 'pushed', files, commit, url }, diff };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      settlement: { kind: 'kept', why: `it could not be pushed from ${host}. ${why}` },
      diff,
    };
  }
};

/** Returns the settlement of work that another machine pushed. Rejects with WorktreeRefusal. */
const pushedBy = async (
  clone: GitClone,
  { host, place, url }: CloneLocation,
): Promise<Settlement> => {
  const { branch, base } = place;
  const tip = await clone.tipOf(branch);
  if (tip === undefined) {
    return { kind: 'kept', why: `It last ran on ${host}, which pushed none of it to ${url}.` };
  }
  await clone.fetch(base);
  await clone.fetch(tip, branch);
  const { tree } = await clone.repository();
  return { kind: 'pushed', files: await namesChanged(tree, base, tip), commit: tip, url };
};

/** Returns the folder `prefix` below `path`, and creates it if missing. Throws WorktreeRefusal. */
const folderIn = (path: string, prefix: string): string => {
  let folder = path;
  for (const name of prefix.split('/').filter(Boolean)) {
    folder = join(folder, name);
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    // Git does not track empty folders.
    if (stats === undefined) mkdirSync(folder);
    else if (!stats.isDirectory()) {
      throw new WorktreeRefusal(`${folder} is not a folder, so no agent can work in it.`);
    }
  }
  return folder;
};
