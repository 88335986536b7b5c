/**
 * Watches the repository of a folder for nested repositories that a command registers in its index.
 *
 * `git status` runs git in every such folder, with the configuration and the hooks of the nested repository. Nested
 * repositories that were there before a command are protected by mounts. A repository that a command has made is
 * accepted if its configuration can run no program, and disabled otherwise.
 */
import { readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findGitDirectory, type GitLocation } from '../git/find-git-directory.js';
import { type GitCommand, hardenedGit } from '../git/git-command.js';
import { gitConfigTargets } from './git-config-targets.js';
import { statOf } from './mount-plan.js';
import type { Placeholder } from './placeholders.js';
import { linkedGitDirectory } from './protect-folder.js';

const LISTING_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
/** Maximum number of nested repositories that are protected by mounts. */
const MAX_PROTECTED = 32;

export interface RepositoryWatchOptions {
  /** Environment of git. */
  readonly environment: Readonly<Record<string, string>>;
  readonly home: string;
}

export class RepositoryWatch {
  private readonly folder: string;
  private readonly options: RepositoryWatchOptions;
  /** Nested repositories in the index, with the identity of their `.git`. */
  private known = new Map<string, string>();
  /** Nested repositories that a command has made. Commands that still run can change them, so each check reads them. */
  private readonly made = new Set<string>();
  private indexStamp: string | undefined;
  private configStamp: string | undefined;
  private configured: readonly Placeholder[] = [];

  constructor(folder: string, options: RepositoryWatchOptions) {
    this.folder = folder;
    this.options = options;
  }

  /** Folders in the index that are nested repositories, or that become one with a `.git`. */
  get nested(): readonly string[] {
    return [...this.known.keys()].slice(0, MAX_PROTECTED);
  }

  /** Files that the configuration includes or runs. */
  get targets(): readonly Placeholder[] {
    return this.configured;
  }

  /** Accepts the present state. Call only while no command of the sandbox runs. */
  async accept(): Promise<void> {
    const location = findGitDirectory(this.folder);
    if (location?.top === undefined) return;
    await this.readTargets(location);
    const links = await this.linksIfChanged(location);
    const folders = links ?? [...this.known.keys()];
    this.known = new Map(folders.map((folder) => [folder, identityOf(folder)]));
    this.made.clear();
  }

  /** Disables nested repositories that could run programs. Returns a sentence for each. */
  async inspect(): Promise<readonly string[]> {
    const location = findGitDirectory(this.folder);
    if (location?.top === undefined) return [];
    const links = (await this.linksIfChanged(location)) ?? [...this.known.keys()];
    const notes: string[] = [];
    for (const folder of links) {
      const identity = identityOf(folder);
      if (this.known.get(folder) === identity && !this.made.has(folder)) continue;
      this.made.add(folder);
      if (identity !== MISSING && !(await this.isHarmless(folder))) notes.push(disable(folder));
      this.known.set(folder, identityOf(folder));
    }
    return notes;
  }

  /** Returns undefined if the index has not changed since the last call. */
  private async linksIfChanged({ directory, top }: GitLocation): Promise<string[] | undefined> {
    const index = join(directory, 'index');
    const stamp = stampOf(index);
    if (stamp === this.indexStamp || top === undefined) return undefined;
    if (stamp !== undefined && mayHaveLinks(index)) {
      const git = await this.gitIn({ directory, top });
      const answer = await git?.(['ls-files', '--stage', '-z', '--full-name'], LISTING_BYTES);
      this.indexStamp = stamp;
      return (answer?.text.split('\0') ?? []).flatMap((line) => {
        const name = /^160000 [0-9a-f]{40,64} \d\t(.+)$/s.exec(line)?.[1];
        return name === undefined ? [] : [join(top, name)];
      });
    }
    this.indexStamp = stamp;
    return [];
  }

  private async readTargets(location: GitLocation): Promise<void> {
    const { home } = this.options;
    const files = [
      ...['config', 'config.worktree', 'commondir'].map((name) => join(location.directory, name)),
      join(home, '.gitconfig'),
      join(home, '.config/git/config'),
    ];
    const stamp = files.map(stampOf).join('\n');
    if (stamp === this.configStamp) return;
    const git = await this.gitIn(location);
    this.configured = await gitConfigTargets(git, location.top ?? location.directory, home);
    this.configStamp = stamp;
  }

  private async isHarmless(folder: string): Promise<boolean> {
    const location = findGitDirectory(folder);
    const linked = linkedGitDirectory(join(folder, '.git'));
    // The git directory must be the directory that git finds, or another repository would be checked.
    const isOwn = [join(folder, '.git'), linked].includes(location?.directory);
    if (location === undefined || !isOwn || hasHooks(location.directory)) return false;
    if (statOf(join(location.directory, 'commondir')) !== undefined) return false;
    const git = await this.gitIn(location, folder);
    const answer = await git?.(['config', '--list', '--local', '--name-only', '-z'], LISTING_BYTES);
    const keys = answer?.code === 0 ? answer.text.split('\0') : ['unknown'];
    return keys.every((key) => key === '' || HARMLESS_KEY.test(key));
  }

  private gitIn(location: GitLocation, cwd = this.folder): Promise<GitCommand | undefined> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return hardenedGit(cwd, location, this.options.environment, signal);
  }
}

/** Keys that git writes into a new repository, a clone or a submodule. */
const HARMLESS_KEY =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|worktree|autocrlf)|extensions\.objectformat|init\.defaultbranch|user\.(?:name|email)|remote\..*\.(?:url|fetch)|branch\..*\.(?:remote|merge|rebase)|submodule\..*\.(?:url|active)|submodule\.active|commit\.gpgsign)$/s;

const MISSING = 'missing';

const identityOf = (folder: string): string => {
  const stats = statOf(join(folder, '.git'));
  return stats === undefined ? MISSING : `${stats.dev}:${stats.ino}:${stats.isDirectory()}`;
};

/** The mode of a nested repository as the index stores it, 0160000. */
const LINK_MODE = Buffer.from([0, 0, 0xe0, 0]);
/** Mark of an index that is split over several files. */
const SPLIT_INDEX = Buffer.from('link');

/** False if the index has no nested repository for certain. Needs no git process. */
const mayHaveLinks = (index: string): boolean => {
  try {
    const bytes = readFileSync(index);
    return bytes.includes(LINK_MODE) || bytes.includes(SPLIT_INDEX);
  } catch {
    return true;
  }
};

const hasHooks = (directory: string): boolean => {
  try {
    return readdirSync(join(directory, 'hooks')).some((name) => !name.endsWith('.sample'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
};

const stampOf = (path: string): string | undefined => {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && [stats.size, stats.mtimeNs, stats.ctimeNs, stats.ino].join();
  } catch {
    return undefined;
  }
};

const disable = (folder: string): string => {
  const kept = setAside(join(folder, '.git'));
  return `The sandbox moved ${join(folder, '.git')} to ${kept}, because git would run programs that this nested repository configures.`;
};

/** Renames a file that a command planted. Returns its new path. */
export const setAside = (path: string): string => {
  for (let number = 1; ; number += 1) {
    const kept = `${path}.from-sandbox-${number}`;
    if (statOf(kept) !== undefined) continue;
    renameSync(path, kept);
    return kept;
  }
};
