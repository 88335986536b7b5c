import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gitSummary } from '../../../src/host/git/git-summary.js';
import { eventually } from '../../fakes/eventually.js';
import { needs } from '../../setup/needs.js';
import { isAlive } from '../process/processes.js';
import { environment, repository, script, temporaryFolder } from './repository.js';

const realGit = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

/** Environment with another program instead of git, which may call the real git. */
const insteadOfGit = (...lines: readonly string[]) => {
  const folder = temporaryFolder();
  script(join(folder, 'git'), ...lines);
  return environment({ PATH: `${folder}:${process.env.PATH}` });
};

/** Repository with untracked files whose short status has this number of characters. */
const statusOf = (characters: number, letter = 'x') => {
  const repo = repository();
  const rows = 10;
  const rest = characters - (rows - 1) - rows * '?? '.length;
  for (let row = 0; row < rows; row += 1) {
    const length = Math.floor(rest / rows) + (row < rest % rows ? 1 : 0);
    repo.put(String(row) + letter.repeat((length - 1) / letter.length), '');
  }
  return repo;
};

needs.describe('git')('the git summary', () => {
  test('has the branch, the default branch, the status, the commits and the user', async () => {
    const repo = repository();
    repo.git('config', 'user.name', 'Ada Lovelace');
    const hashes = ['1', '2', '3', '4', '5', '6'].map((number) => repo.commit(`commit ${number}`));
    repo.git('checkout', '-q', '-b', 'topic/geese');
    repo.put('new file.txt', '');
    repo.put('größe.txt', '');
    repo.git('add', 'größe.txt');
    expect(await gitSummary(repo.path, environment())).toEqual({
      branch: 'topic/geese',
      defaultBranch: 'main',
      status: 'A  größe.txt\n?? "new file.txt"',
      isStatusCut: false,
      commits: hashes
        .slice(1)
        .reverse()
        .map((hash, index) => `${hash.slice(0, 7)} commit ${6 - index}`),
      user: 'Ada Lovelace',
    });
  });

  test.each([
    [2_000, false],
    [2_001, true],
    [9_000, true],
  ])('has at most 2,000 characters of the status: %i', async (characters, isStatusCut) => {
    const repo = characters === 9_000 ? repository() : statusOf(characters);
    for (let n = 0; characters === 9_000 && n < 60; n += 1) repo.put(`${n}${'x'.repeat(150)}`, '');
    const plain = repo.git('status', '--porcelain');
    expect(plain.length).toBeGreaterThanOrEqual(Math.min(characters, 9_000));
    const snapshot = await gitSummary(repo.path, environment());
    expect(snapshot).toMatchObject({ isStatusCut, status: plain.slice(0, 2_000) });
  });

  test('does not split a character', async () => {
    const repo = repository();
    // The surrogate pair at the limit starts one character before it.
    repo.put('a'.repeat(94), '');
    for (let n = 10; n < 40; n += 1) repo.put(`b${n}${'🪿'.repeat(50)}`, '');
    const plain = repo.git('-c', 'core.quotePath=false', 'status', '--porcelain');
    expect(plain.slice(0, 2_000).isWellFormed()).toBe(false);
    const snapshot = await gitSummary(repo.path, environment());
    expect(snapshot?.isStatusCut).toBe(true);
    expect(snapshot?.status?.isWellFormed()).toBe(true);
  });

  test.each([
    ['origin names it', ['refs/remotes/origin/HEAD', 'refs/remotes/origin/trunk'], 'trunk'],
    ['another remote names it', ['refs/remotes/up/HEAD', 'refs/remotes/up/a/b'], 'a/b'],
    ['a remote names a local branch', ['refs/remotes/origin/HEAD', 'refs/heads/x'], 'main'],
  ])('has the default branch when %s', async (_, [ref = '', target = ''], expected) => {
    const repo = repository();
    repo.commit('first');
    if (target.startsWith('refs/remotes')) repo.git('update-ref', target, 'HEAD');
    else repo.git('branch', 'x');
    repo.git('symbolic-ref', ref, target);
    expect((await gitSummary(repo.path, environment()))?.defaultBranch).toBe(expected);
  });

  test('works for a repository without a commit', async () => {
    const { path } = repository();
    expect(await gitSummary(path, environment())).toEqual({
      branch: 'main',
      defaultBranch: undefined,
      status: '',
      isStatusCut: false,
      commits: [],
      user: undefined,
    });
  });

  test('has the branch HEAD if HEAD is detached', async () => {
    const repo = repository();
    repo.commit('first');
    repo.git('checkout', '-q', '--detach');
    expect((await gitSummary(repo.path, environment()))?.branch).toBe('HEAD');
  });

  test('has no status in a bare repository', async () => {
    const { path } = repository('--bare');
    const snapshot = await gitSummary(path, environment());
    expect(snapshot).toMatchObject({ branch: 'main', status: undefined, isStatusCut: false });
  });

  test('covers a worktree, and the whole worktree from a subfolder', async () => {
    const repo = repository();
    repo.commit('first');
    repo.git('worktree', 'add', '-q', '-b', 'other', '../tree');
    mkdirSync(join(repo.folder, 'tree/below'));
    writeFileSync(join(repo.folder, 'tree/new.txt'), '');
    const snapshot = await gitSummary(join(repo.folder, 'tree/below'), environment());
    expect(snapshot).toMatchObject({ branch: 'other', status: '?? new.txt' });
  });

  test('works through a link', async () => {
    const repo = repository();
    repo.put('new.txt', '');
    symlinkSync(repo.path, join(repo.folder, 'link'));
    const snapshot = await gitSummary(join(repo.folder, 'link'), environment());
    expect(snapshot?.status).toBe('?? new.txt');
  });

  test('is undefined outside of a repository and for a missing folder', async () => {
    const folder = temporaryFolder();
    expect(await gitSummary(folder, environment())).toBeUndefined();
    expect(await gitSummary(join(folder, 'missing'), environment())).toBeUndefined();
  });

  test('is undefined without git', async () => {
    const { path, folder } = repository();
    expect(await gitSummary(path, environment({ PATH: folder }))).toBeUndefined();
  });

  test('is undefined if git refuses the owner of the folder', async () => {
    const { path } = repository();
    const env = insteadOfGit(`GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec ${realGit} "$@"`);
    expect(await gitSummary(path, env)).toBeUndefined();
  });

  test('is undefined if git ignores the environment variables', async () => {
    const { path } = repository();
    const env = insteadOfGit('unset GIT_CONFIG_COUNT', `exec ${realGit} "$@"`);
    expect(await gitSummary(path, env)).toBeUndefined();
  });

  test('is undefined if a command takes too long, and its processes are killed', async () => {
    const { path, folder } = repository();
    const pids = join(folder, 'pids');
    const env = insteadOfGit(
      `case "$*" in *status*) sleep 1000 & echo $$ $! > '${pids}.new'; mv '${pids}.new' '${pids}'; wait;; esac`,
      `exec ${realGit} "$@"`,
    );
    const deadline = new AbortController();
    const snapshot = gitSummary(path, env, deadline.signal);
    await eventually('the command has begun', () => existsSync(pids));
    deadline.abort();
    expect(await snapshot).toBeUndefined();
    const started = readFileSync(pids, 'utf8').trim().split(' ').map(Number);
    expect(started).toHaveLength(2);
    await eventually('both have ended', () => started.every((pid) => !isAlive(pid)));
  });

  test('stops reading if a command prints too much', async () => {
    const { path } = repository();
    const env = insteadOfGit('case "$*" in *log*) exec yes;; esac', `exec ${realGit} "$@"`);
    const snapshot = await gitSummary(path, env);
    expect(snapshot?.branch).toBe('main');
    expect(snapshot?.commits.length).toBeGreaterThan(0);
  });

  test('shows foreign text on one line each, cut and without control characters', async () => {
    const repo = repository();
    repo.git('config', 'user.name', `A\u001b[31m\nB${'c'.repeat(1_000)}`);
    repo.commit(`sub\u001bject ${'x'.repeat(100_000)}`);
    const snapshot = await gitSummary(repo.path, environment());
    expect(snapshot?.user).toBe('A [31m');
    expect(snapshot?.commits[0]).toMatch(/^[0-9a-f]{7} sub ject x{180,190}…$/);
  });

  test('does not change the index', async () => {
    const repo = repository();
    repo.put('file.txt', 'same');
    repo.git('add', '.');
    repo.commit('first');
    // The new time would make git refresh and write the index.
    utimesSync(join(repo.path, 'file.txt'), 1, 1);
    const index = join(repo.path, '.git/index');
    const before = readFileSync(index);
    await gitSummary(repo.path, environment());
    expect(readFileSync(index).equals(before)).toBe(true);
    expect(existsSync(`${index}.lock`)).toBe(false);
  });
});
