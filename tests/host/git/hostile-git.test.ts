import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { gitSummary } from '../../../src/host/git/git-summary.js';
import { needs } from '../../setup/needs.js';
import { environment, type Repository, repository, script } from './repository.js';

interface Trap {
  readonly repo: Repository;
  readonly marker: string;
  /** Creates the marker file when it runs. */
  readonly program: string;
}

/** Repository with two commits and a changed file that git must read. */
const trap = (): Trap => {
  const repo = repository();
  repo.put('file.txt', 'one\n');
  repo.git('add', '.');
  repo.commit('first');
  repo.put('file.txt', 'two\n');
  repo.git('commit', '-qam', 'second');
  // Same size as before, so git has to compare the content.
  repo.put('file.txt', 'TWO\n');
  const marker = join(repo.folder, 'marker');
  return {
    repo,
    marker,
    program: script(join(repo.folder, 'program'), `touch '${marker}'; exit 1`),
  };
};

type SetTrap = (trap: Trap) => unknown;

const filterBy =
  (name: string, key: string): SetTrap =>
  ({ repo, program }) => {
    repo.put('.gitattributes', `* filter=${name}\n`);
    repo.git('config', `filter.${name}.${key}`, program);
  };

const included =
  (section: string): SetTrap =>
  ({ repo, program }) => {
    const file = join(repo.folder, 'more-config');
    writeFileSync(file, `[core]\n\tfsmonitor = ${program}\n`);
    repo.git('config', section, file);
  };

/** Deletes the first commit, so that git asks the remote for it. */
const lazyFetch =
  (remote: Readonly<Record<string, string>>): SetTrap =>
  ({ repo, program }) => {
    const first = repo.git('rev-parse', 'HEAD~1');
    unlinkSync(join(repo.path, '.git/objects', first.slice(0, 2), first.slice(2)));
    const settings = {
      'core.repositoryFormatVersion': '1',
      'extensions.partialClone': 'origin',
      'remote.origin.promisor': 'true',
      ...remote,
    };
    for (const [key, value] of Object.entries(settings)) {
      repo.git('config', key, value.replace('PROGRAM', program).replace('PATH', repo.path));
    }
  };

const signed: SetTrap = ({ repo, program }) => {
  const body = repo.git('cat-file', 'commit', 'HEAD');
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n';
  const file = join(repo.folder, 'commit');
  writeFileSync(file, `${body.replace('\n\n', `\n${signature}\n`)}\n`);
  repo.git('reset', '-q', '--soft', repo.git('hash-object', '-t', 'commit', '-w', file));
  repo.git('config', 'log.showSignature', 'true');
  repo.git('config', 'gpg.program', program);
};

const submodule: SetTrap = ({ repo, program }) => {
  const inner = join(repo.path, 'inner');
  spawnSync('git', ['init', '-q', inner]);
  spawnSync('git', ['commit', '-q', '--allow-empty', '-m', 'inner'], { cwd: inner });
  repo.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'inner');
  repo.commit('inner');
  spawnSync('git', ['config', 'core.fsmonitor', program], { cwd: inner });
};

/** Settings that are disabled in the outer repository are not disabled in the submodule. */
const submoduleFilter: SetTrap = (outer) => {
  const inner = join(outer.repo.path, 'inner');
  const git = (...args: string[]) => spawnSync('git', args, { cwd: inner });
  submodule(outer);
  git('config', '--unset', 'core.fsmonitor');
  writeFileSync(join(inner, 'file.txt'), 'one\n');
  writeFileSync(join(inner, '.gitattributes'), '* filter=evil\n');
  git('add', '.');
  git('commit', '-q', '-m', 'more');
  outer.repo.git('add', 'inner');
  outer.repo.commit('more');
  git('config', 'filter.evil.clean', outer.program);
  writeFileSync(join(inner, 'file.txt'), 'ONE\n');
};

const hook: SetTrap = ({ repo, marker }) => {
  script(join(repo.path, '.git/hooks/post-index-change'), `touch '${marker}'`);
  // The new time makes git refresh and write the index.
  repo.put('file.txt', 'two\n');
};

const setting =
  (key: string): SetTrap =>
  ({ repo, program }) =>
    repo.git('config', key, program);

/** Each trap with the git command that triggers it. */
const TRAPS: readonly {
  readonly name: string;
  readonly set: SetTrap;
  readonly command: readonly string[];
}[] = [
  { name: 'a monitor', set: setting('core.fsmonitor'), command: ['status'] },
  { name: 'an included file', set: included('include.path'), command: ['status'] },
  {
    name: 'a file for this folder',
    set: included('includeIf.gitdir:/**.path'),
    command: ['status'],
  },
  {
    name: 'a file for a branch',
    set: included('includeIf.onbranch:main.path'),
    command: ['status'],
  },
  { name: 'a filter', set: filterBy('evil', 'clean'), command: ['status'] },
  { name: 'a filter with an odd name', set: filterBy('a=b.c', 'clean'), command: ['status'] },
  { name: 'a filter process', set: filterBy('evil', 'process'), command: ['status'] },
  { name: 'a hook', set: hook, command: ['status'] },
  { name: 'a submodule with a monitor', set: submodule, command: ['status'] },
  { name: 'a submodule with a filter', set: submoduleFilter, command: ['status'] },
  { name: 'a signature', set: signed, command: ['log'] },
  { name: 'a diff', set: setting('diff.external'), command: ['log', '-p', '--ext-diff'] },
  {
    name: 'a lazy fetch',
    set: lazyFetch({ 'remote.origin.url': 'PATH', 'remote.origin.uploadpack': 'PROGRAM' }),
    command: ['log'],
  },
  {
    name: 'a lazy fetch over ssh',
    set: lazyFetch({ 'remote.origin.url': 'ssh://x.invalid/y', 'core.sshCommand': 'PROGRAM' }),
    command: ['log'],
  },
  {
    name: 'a lazy fetch over a remote helper',
    set: lazyFetch({ 'remote.origin.url': 'ext::PROGRAM', 'protocol.ext.allow': 'always' }),
    command: ['log'],
  },
];

/** Runs git without protection. */
const plainGit = (
  args: readonly string[],
  { path }: Repository,
  env: Readonly<Record<string, string>> = {},
) => {
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  spawnSync('git', args, {
    cwd: path,
    timeout: 20_000,
    stdio: [...stdio],
    env: { ...process.env, ...env },
  });
};

needs.describe('git')('a repository that configures programs', () => {
  test.each(TRAPS)('runs none of them: $name', async ({ set, command }) => {
    // Checks the trap: plain git runs the program.
    const control = trap();
    set(control);
    plainGit(command, control.repo);
    expect(existsSync(control.marker)).toBe(true);

    const { repo, marker, program } = trap();
    set({ repo, marker, program });
    const snapshot = await gitSummary(repo.path, environment());
    expect(snapshot?.branch).toBe('main');
    expect(existsSync(marker)).toBe(false);
  });

  test("cannot use a filter of the user's global config", async () => {
    const { repo, marker, program } = trap();
    const config = join(repo.folder, 'global');
    writeFileSync(config, `[filter "lfs"]\n\tclean = ${program}\n\trequired = true\n`);
    repo.put('.gitattributes', '* filter=lfs\n');
    const env = { GIT_CONFIG_GLOBAL: config };
    plainGit(['status'], repo, env);
    expect(existsSync(marker)).toBe(true);
    rmSync(marker);
    const snapshot = await gitSummary(repo.path, environment(env));
    expect(snapshot?.status).toBe(' M file.txt\n?? .gitattributes');
    expect(existsSync(marker)).toBe(false);
  });

  test.each([
    ['by an absolute path', (repo: Repository) => join(repo.path, 'node_modules/.bin')],
    ['by a relative path', () => 'node_modules/.bin'],
    ['through a link', (repo: Repository) => join(repo.folder, 'link')],
  ])('cannot supply its own git: %s', async (_, onPath) => {
    const { repo, marker } = trap();
    script(join(repo.path, 'node_modules/.bin/git'), `touch '${marker}'`);
    spawnSync('ln', ['-s', join(repo.path, 'node_modules/.bin'), join(repo.folder, 'link')]);
    const PATH = [onPath(repo), process.env.PATH].join(delimiter);
    plainGit(['status'], repo, { PATH });
    expect(existsSync(marker)).toBe(true);
    rmSync(marker);
    const snapshot = await gitSummary(repo.path, environment({ PATH }));
    expect(snapshot?.branch).toBe('main');
    expect(existsSync(marker)).toBe(false);
  });

  test('cannot show the names of files outside of its folder', async () => {
    const { repo } = trap();
    writeFileSync(join(repo.folder, 'private.txt'), '');
    repo.git('config', 'core.worktree', repo.folder);
    expect(repo.git('status', '--porcelain')).toContain('private.txt');
    // The status of the other folder may have refreshed the cached entry of a file of the same
    // size.
    repo.put('file.txt', 'longer than before\n');
    const snapshot = await gitSummary(repo.path, environment());
    expect(snapshot?.status).toBe(' M file.txt');
  });

  test('cannot show them if it was bare', async () => {
    const bare = repository('--bare');
    writeFileSync(join(bare.folder, 'private.txt'), '');
    bare.git('config', 'core.bare', 'false');
    bare.git('config', 'core.worktree', bare.folder);
    expect(bare.git('status', '--porcelain')).toContain('private.txt');
    const snapshot = await gitSummary(bare.path, environment());
    expect(snapshot).toMatchObject({ branch: 'main', status: undefined });
  });

  test.each([
    ['of a bare repository', () => repository('--bare').path],
    [
      'of the outer repository',
      () => {
        const inner = join(repository().path, 'inner');
        spawnSync('git', ['init', '-q', '-b', 'main', inner]);
        return inner;
      },
    ],
  ])('cannot supply a git in the packages %s', async (_, make) => {
    const path = make();
    const packages = join(path, path.endsWith('inner') ? '..' : '.', 'node_modules/.bin');
    const marker = join(path, 'marker');
    script(join(packages, 'git'), `touch '${marker}'`);
    const PATH = [packages, process.env.PATH].join(delimiter);
    const snapshot = await gitSummary(path, environment({ PATH }));
    expect(snapshot?.branch).toBe('main');
    expect(existsSync(marker)).toBe(false);
  });

  test('is not replaced by GIT_DIR of another repository', async () => {
    const { repo } = trap();
    const other = repository();
    const env = { GIT_DIR: join(other.path, '.git'), GIT_INDEX_FILE: '/dev/null' };
    expect((await gitSummary(repo.path, environment(env)))?.status).toBe(' M file.txt');
  });

  test('with more filters than can be disabled is not read', async () => {
    const { repo } = trap();
    const many = Array.from({ length: 501 }, (_, n) => `[filter "f${n}"]\n\tclean = false\n`);
    writeFileSync(join(repo.path, '.git/config'), many.join(''));
    expect(await gitSummary(repo.path, environment())).toBeUndefined();
  });
});
