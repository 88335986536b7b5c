/**
 * Git working tree, to take snapshots of and to write to. Runs hardened git (git-command.ts) and
 * changes no index, branch or stash of the user: snapshots use a separate index.
 */
import fs from 'node:fs';
import { join, sep } from 'node:path';
import { WorktreeRefusal } from '../../protocol/tools/worktrees.js';
import type { GitLocation } from './find-git-directory.js';
import {
  type GitCommand,
  type GitCommandOptions,
  type GitResult,
  type GitSetting,
  hardenedGit,
} from './git-command.js';

export const LISTING_BYTES = 64 * 1024 * 1024;
export const SMALL_OUTPUT_BYTES = 64 * 1024;
const TIMEOUT_MS = 120_000;
/** Maximum of uncommitted files that are copied for an agent. */
const MAX_UNCOMMITTED_BYTES = 512 * 1024 * 1024;
const MAX_UNCOMMITTED_FILES = 100_000;

const SETTINGS: readonly GitSetting[] = [
  ['core.splitIndex', 'false'],
  ['core.untrackedCache', 'false'],
  ['core.sparseCheckout', 'false'],
  ['core.safecrlf', 'false'],
  ['submodule.recurse', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
];

const PERSON = { NAME: 'Skein', EMAIL: 'skein@localhost' };

const IDENTITY = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(PERSON).map(([key, value]) => [`GIT_${role}_${key}`, value]),
  ),
);

export interface TreeState {
  readonly tree: string;
  /** Index of the snapshot, separate from the user's index. */
  readonly index: string;
}

export class GitTree {
  /** Real path of the top folder. */
  readonly top: string;
  private readonly git: GitCommand;

  private constructor(top: string, git: GitCommand) {
    this.top = top;
    this.git = git;
  }

  /** Rejects with WorktreeRefusal. */
  static async open(
    top: string,
    directory: string,
    environment: Readonly<Record<string, string>>,
    { timeoutMs = TIMEOUT_MS, env = {}, settings = [] }: OpenTreeOptions = {},
  ): Promise<GitTree> {
    const location: GitLocation = { top, directory };
    const git = await hardenedGit(top, location, environment, AbortSignal.timeout(timeoutMs), {
      env: { GIT_DIR: directory, GIT_LITERAL_PATHSPECS: '1', ...IDENTITY, ...env },
      settings: [...SETTINGS, ...settings],
      keepsStderr: true,
    });
    if (git === undefined) {
      throw new WorktreeRefusal(
        `git cannot be used in ${top}: it must be version 2.38 or newer and have access to the repository.`,
      );
    }
    return new GitTree(top, git);
  }

  /** Rejects with WorktreeRefusal if git fails, or prints more than `maxBytes`. */
  async run(
    args: readonly string[],
    { input, index, maxBytes = SMALL_OUTPUT_BYTES }: GitCallOptions = {},
  ): Promise<GitResult> {
    const answer = await this.tryRun(args, { input, index, maxBytes });
    if (answer?.code === 0) return answer;
    throw new WorktreeRefusal(`git ${args[0]} failed in ${this.top}: ${gitFailure(answer)}`);
  }

  /** Returns undefined if git cannot be started or times out. Never rejects. */
  tryRun(
    args: readonly string[],
    { input, index, maxBytes = SMALL_OUTPUT_BYTES }: GitCallOptions = {},
  ): Promise<GitResult | undefined> {
    return this.git(args, maxBytes, input, index === undefined ? {} : { GIT_INDEX_FILE: index });
  }

  /** Returns the full object name. Returns undefined if there is no such object. */
  async find(name: string): Promise<string | undefined> {
    const answer = await this.tryRun(['rev-parse', '--verify', '-q', '--end-of-options', name]);
    const objectName = answer?.code === 0 ? answer.text.trim() : '';
    return /^[0-9a-f]{40,64}$/.test(objectName) ? objectName : undefined;
  }

  async treeOf(commit: string): Promise<string> {
    return (await this.run(['rev-parse', '--verify', `${commit}^{tree}`])).text.trim();
  }

  /** Creates a commit without signature and hooks. */
  async commit(tree: string, parents: readonly string[], message: string): Promise<string> {
    const parentFlags = parents.flatMap((parent) => ['-p', parent]);
    const args = ['commit-tree', '--no-gpg-sign', tree, ...parentFlags, '-m', message];
    return (await this.run(args)).text.trim();
  }

  /** Writes the current files, tracked or not but not ignored, to a tree, with the index at the given path. */
  async snapshot(index: string, { excluded, included = [] }: SnapshotOptions): Promise<TreeState> {
    await this.addToIndex(index, { excluded, included });
    return { tree: (await this.run(['write-tree'], { index })).text.trim(), index };
  }

  /** Returns the names of changed, deleted and untracked files, as bytes in latin1. */
  async changedNames(index?: string): Promise<readonly string[]> {
    const args = ['ls-files', '-z', '-m', '-d', '-o', '--exclude-standard'];
    return namesIn((await this.run(args, { index, maxBytes: LISTING_BYTES })).bytes);
  }

  private async addToIndex(
    index: string,
    { excluded, included = [] }: SnapshotOptions,
  ): Promise<void> {
    const listing = await this.run(['ls-files', '-s', '-z'], { index, maxBytes: LISTING_BYTES });
    const entries = namesIn(listing.bytes).flatMap((line) => {
      const [, mode, stage, name] = /^(\d+) [0-9a-f]+ (\d)\t(.+)$/s.exec(line) ?? [];
      return name === undefined ? [] : [{ name, isModule: mode === '160000', stage }];
    });
    const modules = new Set(entries.flatMap(({ isModule, name }) => (isModule ? [name] : [])));
    // Unmerged files of the user have no single state, so take them from the disk.
    const unmerged = entries.flatMap(({ stage, name }) => (stage === '0' ? [] : [name]));
    const names = new Set([
      ...(await this.changedNames(index)),
      ...unmerged,
      ...this.namesOf(included),
    ]);
    // An agent's worktree lies in an excluded folder, which then must not exclude the whole tree.
    const applicable = excluded.filter(
      (folder) => this.top !== folder && !this.top.startsWith(`${folder}${sep}`),
    );
    const added = [...names].filter(
      (name) => !modules.has(name) && this.isIncluded(name, applicable, modules),
    );
    this.refuseTooMuch(added);
    if (added.length === 0) return;
    const input = Buffer.from(added.map((name) => `${name}\0`).join(''), 'latin1');
    const args = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
    await this.run(args, { index, input });
  }

  /** False for excluded files, and for folders, which are other repositories or submodules. */
  private isIncluded(
    name: string,
    excluded: readonly string[],
    modules: ReadonlySet<string>,
  ): boolean {
    if (name.endsWith('/')) return false;
    const path = join(this.top, utf8Name(name));
    if (excluded.some((folder) => path === folder || path.startsWith(`${folder}${sep}`)))
      return false;
    for (const module of modules) if (name.startsWith(`${module}/`)) return false;
    return true;
  }

  private namesOf(paths: readonly string[]): readonly string[] {
    const prefix = `${this.top}${sep}`;
    return paths.flatMap((path) => {
      if (!path.startsWith(prefix)) return [];
      const stats = statOf(path);
      if (stats === undefined || !(stats.isFile() || stats.isSymbolicLink())) return [];
      return [Buffer.from(path.slice(prefix.length)).toString('latin1')];
    });
  }

  private refuseTooMuch(names: readonly string[]): void {
    let bytes = 0;
    for (const name of names) bytes += statOf(pathAt(this.top, name))?.size ?? 0;
    if (names.length <= MAX_UNCOMMITTED_FILES && bytes <= MAX_UNCOMMITTED_BYTES) return;
    throw new WorktreeRefusal(
      `${this.top} has too many uncommitted files to copy for an agent (${names.length} files, ${Math.ceil(bytes / 1024 / 1024)} MiB): commit them, or add generated files to .gitignore.`,
    );
  }
}

interface OpenTreeOptions extends Pick<GitCommandOptions, 'env' | 'settings'> {
  readonly timeoutMs?: number;
}

interface GitCallOptions {
  readonly input?: Uint8Array | undefined;
  readonly index?: string | undefined;
  readonly maxBytes?: number;
}

export interface SnapshotOptions {
  /** Folders to leave out, absolute. */
  readonly excluded: readonly string[];
  /** Files to include even if ignored, absolute. Default: none. */
  readonly included?: readonly string[];
}

/** Splits NUL-separated names. Decodes them as latin1, because file names are arbitrary bytes. */
export const namesIn = (bytes: Buffer): readonly string[] =>
  bytes
    .toString('latin1')
    .split('\0')
    .filter((name) => name !== '');

export const utf8Name = (name: string): string => Buffer.from(name, 'latin1').toString('utf8');

/** True if the name is valid UTF-8. */
export const isUtf8Name = (name: string): boolean =>
  Buffer.from(utf8Name(name)).equals(Buffer.from(name, 'latin1'));

const pathAt = (top: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${top}${sep}`), Buffer.from(name, 'latin1')]);

const statOf = (path: fs.PathLike): fs.Stats | undefined => {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

/** Copies the index of a tree to `index` and returns that path. */
export const copyIndex = (directory: string, index: string): string => {
  fs.rmSync(index, { force: true });
  try {
    fs.copyFileSync(join(directory, 'index'), index);
  } catch {
    // Without an index all files count as new, which is correct.
  }
  return index;
};

const MAX_FAILURE_LENGTH = 300;

export const gitFailure = (answer: GitResult | undefined): string => {
  if (answer === undefined) return 'it could not be started or took too long.';
  if (answer.code === null) return 'it printed too much output.';
  const message = answer.stderr.replaceAll(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim();
  return message === ''
    ? `it exited with code ${answer.code}.`
    : message.slice(0, MAX_FAILURE_LENGTH);
};
