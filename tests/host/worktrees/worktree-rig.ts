/** Creates, changes and settles worktrees of agents in a real repository. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { gitWorktrees } from '../../../src/host/worktrees/git-worktrees.js';
import {
  type Settlement,
  type WorktreeLocation,
  WorktreeRefusal,
  type Worktrees,
} from '../../../src/protocol/tools/worktrees.js';
import { environment, type Repository, repository } from '../git/repository.js';

export interface WorktreeRig {
  readonly repo: Repository;
  readonly home: string;
  readonly worktrees: Worktrees;
  open(agent: string, cwd?: string): Promise<WorktreeLocation>;
  /** Undefined content deletes the file. */
  change(place: WorktreeLocation, files: Readonly<Record<string, string | undefined>>): void;
  settle(
    agent: string,
    place: WorktreeLocation,
    more?: {
      readonly ignoredFiles?: readonly string[];
      readonly meanwhile?: () => void;
      readonly keepsFolder?: boolean;
      readonly merged?: string | undefined;
    },
  ): Promise<Settlement>;
  /** Content of a file in the parent's tree. Undefined if it is missing. */
  read(name: string): string | undefined;
  /** Index, branch and stash of the user. */
  userState(): string;
}

export const worktreeRig = (
  files: Readonly<Record<string, string>> = { 'a.txt': 'one\n' },
): WorktreeRig => {
  const repo = repository();
  for (const [name, text] of Object.entries(files)) repo.put(name, text);
  repo.git('add', '.');
  repo.commit('first');
  return rigOver(repo);
};

export const rigOver = (repo: Repository): WorktreeRig => {
  const home = join(repo.folder, 'home');
  const worktrees = gitWorktrees({
    folder: join(home, 'worktrees'),
    excluded: [home],
    environment: environment(),
  });
  return {
    repo,
    home,
    worktrees,
    open: (agent, cwd = repo.path) => worktrees.open({ session: 's_1', agent, cwd }),
    change(place, changed) {
      for (const [name, text] of Object.entries(changed)) {
        const path = join(place.path, name);
        if (text === undefined) rmSync(path, { recursive: true });
        else {
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, text);
        }
      }
    },
    async settle(agent, place, { ignoredFiles = [], meanwhile = () => undefined, ...more } = {}) {
      const beforeMerge = async () => meanwhile();
      const { settlement } = await worktrees.settle({
        agent,
        place,
        ignoredFiles,
        beforeMerge,
        ...more,
      });
      return settlement;
    },
    read(name) {
      const path = join(repo.path, name);
      return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    },
    userState: () =>
      [
        repo.git('status', '--porcelain', '--branch', '--untracked-files=no'),
        repo.git('diff', '--cached'),
        repo.git('rev-parse', 'HEAD'),
        repo.git('symbolic-ref', '-q', 'HEAD'),
        repo.git('stash', 'list'),
      ].join('\n'),
  };
};

/** Returns the message of a WorktreeRefusal. Fails if the work is not refused. */
export const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => new Error('the work was not refused'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WorktreeRefusal);
  return (error as Error).message;
};
