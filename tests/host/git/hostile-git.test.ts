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
  /** Leaves the marker when somebody runs it. */
  readonly program: string;
}

/** A repository with two commits and a changed file that git must look into. */
const trap = (): Trap => {
  const repo = repository();
  repo.put('file.txt', 'one\n');
  repo.git('add', '.');
  repo.commit('first');
  repo.put('file.txt', 'two\n');
  repo.git('commit', '-qam', 'second');
  // As long as before: only its content tells.
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

/** The first commit is gone, and whoever misses it asks the remote. */
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

/** What is switched off in the repository around it is not switched off there. */
const submoduleFilter: SetTrap = (given) => {
  const inner = join(given.repo.path, 'inner');
  const git = (...args: string[]) => spawnSync('git', args, { cwd: inner });
  submodule(given);
  git('config', '--unset', 'core.fsmonitor');
  writeFileSync(join(inner, 'file.txt'), 'one\n');
  writeFileSync(join(inner, '.gitattributes'), '* filter=evil\n');
  git('add', '.');
  git('commit', '-q', '-m', 'more');
  given.repo.git('add', 'inner');
  given.repo.commit('more');
  git('config', 'filter.evil.clean', given.program);
  writeFileSync(join(inner, 'file.txt'), 'ONE\n');
};

const hook: SetTrap = ({ repo, marker }) => {
  script(join(repo.path, '.git/hooks/post-index-change'), `touch '${marker}'`);
  // Looked at anew, the index is worth writing.
  repo.put('file.txt', 'two\n');
};

const setting =
  (key: string): SetTrap =>
  ({ repo, program }) =>
    repo.git('config', key, program);

/** With the look at the repository that falls into it. */
const TRAPS: readonly {
  readonly name: string;
  readonly set: SetTrap;
  readonly look: readonly string[];
}[] = [
  { name: 'a monitor', set: setting('core.fsmonitor'), look: ['status'] },
  { name: 'an included file', set: included('include.path'), look: ['status'] },
  { name: 'a file for this place', set: included('includeIf.gitdir:/**.path'), look: ['status'] },
  { name: 'a file for a branch', set: included('includeIf.onbranch:main.path'), look: ['status'] },
  { name: 'a filter', set: filterBy('evil', 'clean'), look: ['status'] },
  { name: 'a filter with an odd name', set: filterBy('a=b.c', 'clean'), look: ['status'] },
  { name: 'a filter that stays', set: filterBy('evil', 'process'), look: ['status'] },
  { name: 'a hook', set: hook, look: ['status'] },
  { name: 'a submodule with a monitor', set: submodule, look: ['status'] },
  { name: 'a submodule with a filter', set: submoduleFilter, look: ['status'] },
  { name: 'a signature', set: signed, look: ['log'] },
  { name: 'a diff', set: setting('diff.external'), look: ['log', '-p', '--ext-diff'] },
  {
    name: 'a remote that must be asked',
    set: lazyFetch({ 'remote.origin.url': 'PATH', 'remote.origin.uploadpack': 'PROGRAM' }),
    look: ['log'],
  },
  {
    name: 'a remote that must be asked over ssh',
    set: lazyFetch({ 'remote.origin.url': 'ssh://x.invalid/y', 'core.sshCommand': 'PROGRAM' }),
    look: ['log'],
  },
  {
    name: 'a remote that must be asked in its own way',
    set: lazyFetch({ 'remote.origin.url': 'ext::PROGRAM', 'protocol.ext.allow': 'always' }),
    look: ['log'],
  },
];

/** As anybody would call it. */
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

needs.describe('git')('a repository that names programs', () => {
  test.each(TRAPS)('runs none of them: $name', async ({ set, look }) => {
    // The trap works: git by itself falls into it.
    const control = trap();
    set(control);
    plainGit(look, control.repo);
    expect(existsSync(control.marker)).toBe(true);

    const { repo, marker, program } = trap();
    set({ repo, marker, program });
    const snapshot = await gitSummary(repo.path, environment());
    expect(snapshot?.branch).toBe('main');
    expect(existsSync(marker)).toBe(false);
  });

  test('cannot use a filter of the user either', async () => {
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
    ['by its whole path', (repo: Repository) => join(repo.path, 'node_modules/.bin')],
    ['from where git is started', () => 'node_modules/.bin'],
    ['through a link', (repo: Repository) => join(repo.folder, 'link')],
  ])('cannot bring a git of its own: %s', async (_, onPath) => {
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

  test('cannot show the names of files that are elsewhere', async () => {
    const { repo } = trap();
    writeFileSync(join(repo.folder, 'private.txt'), '');
    repo.git('config', 'core.worktree', repo.folder);
    expect(repo.git('status', '--porcelain')).toContain('private.txt');
    // That look at the other folder may have refreshed what git remembers of a file of the same size.
    repo.put('file.txt', 'longer than before\n');
    const snapshot = await gitSummary(repo.path, environment());
    expect(snapshot?.status).toBe(' M file.txt');
  });

  test('cannot show them from a bare one either', async () => {
    const bare = repository('--bare');
    writeFileSync(join(bare.folder, 'private.txt'), '');
    bare.git('config', 'core.bare', 'false');
    bare.git('config', 'core.worktree', bare.folder);
    expect(bare.git('status', '--porcelain')).toContain('private.txt');
    const snapshot = await gitSummary(bare.path, environment());
    expect(snapshot).toMatchObject({ branch: 'main', status: undefined });
  });

  test.each([
    ['of a bare one', () => repository('--bare').path],
    [
      'of the one around it',
      () => {
        const inner = join(repository().path, 'inner');
        spawnSync('git', ['init', '-q', '-b', 'main', inner]);
        return inner;
      },
    ],
  ])('cannot bring a git in the packages %s', async (_, make) => {
    const path = make();
    const packages = join(path, path.endsWith('inner') ? '..' : '.', 'node_modules/.bin');
    const marker = join(path, 'marker');
    script(join(packages, 'git'), `touch '${marker}'`);
    const PATH = [packages, process.env.PATH].join(delimiter);
    const snapshot = await gitSummary(path, environment({ PATH }));
    expect(snapshot?.branch).toBe('main');
    expect(existsSync(marker)).toBe(false);
  });

  test('cannot be told of by variables that speak of another one', async () => {
    const { repo } = trap();
    const other = repository();
    const env = { GIT_DIR: join(other.path, '.git'), GIT_INDEX_FILE: '/dev/null' };
    expect((await gitSummary(repo.path, environment(env)))?.status).toBe(' M file.txt');
  });

  test('with more filters than can be switched off is not looked at', async () => {
    const { repo } = trap();
    const many = Array.from({ length: 501 }, (_, n) => `[filter "f${n}"]\n\tclean = false\n`);
    writeFileSync(join(repo.path, '.git/config'), many.join(''));
    expect(await gitSummary(repo.path, environment())).toBeUndefined();
  });
});
