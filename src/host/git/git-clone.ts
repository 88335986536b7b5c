/**
 * Bare git clone of a remote, for a machine without the lead's workspace. Neither side is trusted:
 * the config is rewritten before every use, because agents can write it, and hooks of a remote on
 * this disk are disabled.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { WorktreeRefusal } from '../../protocol/tools/worktrees.js';
import type { GitSetting } from './git-command.js';
import { type GitRepository, realPathOf, type WorktreeHome } from './git-repository.js';
import { GitTree, gitFailure } from './git-tree.js';

/** Long enough for a large repository. */
const TIMEOUT_MS = 600_000;

/** Excludes `ext`, which runs a program. */
const TRANSPORTS = { GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh' };

const SETTINGS: readonly GitSetting[] = [
  ['fetch.recurseSubmodules', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['push.gpgSign', 'false'],
  ['push.followTags', 'false'],
  ['fetch.writeCommitGraph', 'false'],
];

/** Complete config of the clone. Starts no program. */
const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n';

/** Returns the command that git runs for a remote on this disk, without the remote's hooks. */
const serverCommand = (program: string): string =>
  `git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.alternateRefsCommand=true -c receive.autogc=false -c receive.denyCurrentBranch=refuse ${program}`;

export class GitClone {
  readonly url: string;
  readonly directory: string;
  private readonly environment: WorktreeHome['environment'];

  private constructor(url: string, directory: string, environment: WorktreeHome['environment']) {
    this.url = url;
    this.directory = directory;
    this.environment = environment;
  }

  /** Creates the clone if missing, without fetching. Rejects with WorktreeRefusal. */
  static async open({ folder, environment }: WorktreeHome, url: string): Promise<GitClone> {
    const directory = clonePath(folder, url);
    try {
      // The minimum for git to accept a repository. Without a template there are no hooks.
      for (const part of ['objects', 'refs']) {
        mkdirSync(join(directory, part), { recursive: true, mode: 0o700 });
      }
      writeFileSync(join(directory, 'HEAD'), 'ref: refs/heads/main\n');
    } catch (error) {
      throw new WorktreeRefusal(`${directory} cannot be made: ${(error as Error).message}`);
    }
    const clone = new GitClone(url, directory, environment);
    clone.writeConfig();
    return clone;
  }

  /** Opens the clone to add and remove worktrees. Rejects with WorktreeRefusal. */
  async repository(): Promise<GitRepository> {
    this.writeConfig();
    const { directory, environment } = this;
    const tree = await GitTree.open(directory, directory, environment);
    return { tree, directory, common: realPathOf(directory) };
  }

  /** Returns the commit of a remote branch. Returns undefined if there is no such branch. Rejects with WorktreeRefusal. */
  async tipOf(branch: string): Promise<string | undefined> {
    const ref = `refs/heads/${branch}`;
    const output = await this.runRemote([
      'ls-remote',
      '--refs',
      ...this.serverFlags('upload-pack'),
      this.url,
      ref,
    ]);
    return /^([0-9a-f]{40,64})\t/m.exec(output)?.[1];
  }

  /** Returns the commits of all remote branches. Rejects with WorktreeRefusal. */
  async tips(): Promise<readonly string[]> {
    const output = await this.runRemote([
      'ls-remote',
      '--heads',
      ...this.serverFlags('upload-pack'),
      this.url,
    ]);
    return [...new Set(output.match(/^[0-9a-f]{40,64}(?=\t)/gm))];
  }

  /** Fetches a commit unless it is present. Rejects with WorktreeRefusal. */
  async fetch(commit: string, branch?: string): Promise<void> {
    const { tree } = await this.repository();
    const isHere = async () => (await tree.find(`${commit}^{commit}`)) !== undefined;
    if (await isHere()) return;
    // Some remotes refuse to send a commit by its hash, so try all branches next.
    const refspecs =
      branch === undefined
        ? [commit, ALL_BRANCHES]
        : [`+refs/heads/${branch}:refs/skein/${branch}`];
    let failure = '';
    for (const refspec of refspecs) {
      const flags = ['--no-tags', '--no-write-fetch-head', '--no-auto-gc', '-q'];
      const args = ['fetch', ...flags, ...this.serverFlags('upload-pack'), this.url, refspec];
      await this.runRemote(args).catch((error: unknown) => {
        if (!(error instanceof WorktreeRefusal)) throw error;
        failure = ` (${error.message})`;
      });
      if (await isHere()) return;
    }
    throw new WorktreeRefusal(
      `${this.url} does not have the commit ${commit}: push it there.${failure}`,
    );
  }

  /** Pushes without force. Rejects with WorktreeRefusal. */
  async push(commit: string, branch: string): Promise<void> {
    const flags = ['--no-verify', '--no-signed', '--no-follow-tags', '-q'];
    await this.runRemote([
      'push',
      ...flags,
      ...this.serverFlags('receive-pack'),
      this.url,
      `${commit}:refs/heads/${branch}`,
    ]);
    const { tree } = await this.repository();
    // sweepWorktree removes a worktree only if another ref contains its commit.
    await tree.tryRun(['update-ref', `refs/remotes/origin/${branch}`, commit]);
  }

  private async runRemote(args: readonly string[]): Promise<string> {
    this.writeConfig();
    const { directory, environment, url } = this;
    const tree = await GitTree.open(directory, directory, environment, {
      timeoutMs: TIMEOUT_MS,
      env: TRANSPORTS,
      settings: SETTINGS,
    });
    const answer = await tree.tryRun(args);
    if (answer?.code === 0) return answer.text;
    throw new WorktreeRefusal(`git ${args[0]} of ${url} failed: ${gitFailure(answer)}`);
  }

  private writeConfig(): void {
    const { directory } = this;
    const draft = join(directory, `config.${process.pid}`);
    writeFileSync(draft, CONFIG);
    renameSync(draft, join(directory, 'config'));
    rmSync(join(directory, 'config.worktree'), { force: true });
  }

  /** Returns no flags for a server, which runs its own program. */
  private serverFlags(program: string): readonly string[] {
    return isLocal(this.url) ? [`--${program}=${serverCommand(program)}`] : [];
  }
}

/** Folder for clones below the worktree folder. Hidden, so that it is not taken for a session's folder. */
export const CLONES = '.clones';

/** Returns the path of the clone of a remote, existing or not. */
export const clonePath = (folder: string, url: string): string => {
  const name = createHash('sha256').update(url).digest('hex').slice(0, 32);
  return join(realPathOf(folder), CLONES, `${name}.git`);
};

const ALL_BRANCHES = '+refs/heads/*:refs/skein/heads/*';

/** Distinguishes a path from a host as git does. */
const isLocal = (url: string): boolean =>
  url.startsWith('file:') || isAbsolute(url) || !/^[^/]*:/.test(url);
