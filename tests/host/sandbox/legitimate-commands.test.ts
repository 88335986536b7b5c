/** Commands that people expect to work in a sandbox, although it protects control files. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { needs } from '../../setup/needs.js';
import { type SandboxedFolder, sandboxedFolder } from './sandboxed-folder.js';

const setUp = (): SandboxedFolder => {
  const folder = sandboxedFolder();
  folder.git('repo', 'init', '-q', '-b', 'main');
  folder.git('repo', 'config', 'user.name', 'a');
  folder.git('repo', 'config', 'user.email', 'a@b.c');
  folder.write('repo/src/a.txt', 'a\n');
  folder.git('repo', 'add', '.');
  folder.git('repo', 'commit', '-qm', 'first');
  return folder;
};

const namesIn = ({ at }: SandboxedFolder) =>
  ['repo', 'repo/.git'].map((path) => readdirSync(at(path)).sort());

needs.describe('bwrap', 'git')('a sandboxed command', () => {
  test('uses git as usual: add, commit, branch, merge, stash, rebase, tag, reset, gc', async () => {
    const folder = setUp();
    const { exitCode, output } = await folder.run(`set -e
      echo b > b.txt; git add -A; git commit -qm second; git diff HEAD --stat
      git checkout -q -b side; echo c > c.txt; git add c.txt; git commit -qm third
      git checkout -q main; echo d > d.txt; git add .; git commit -qm fourth
      git merge -q -m merged side; git tag v1
      echo e >> b.txt; git stash -q; git stash pop -q; git checkout -q b.txt
      git branch other HEAD~1; git branch -q -D other 2>/dev/null
      git rebase -q side; git reset -q --hard v1; git gc -q; git status --porcelain; git log --oneline | wc -l`);
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: '5\n' });
    expect(folder.git('repo', 'status', '--porcelain')).toBe('');
    expect(folder.git('repo', 'ls-files')).toBe('b.txt\nc.txt\nd.txt\nsrc/a.txt\n');
  }, 30_000);

  test('commits in a submodule, in a nested repository and in a linked worktree', async () => {
    const folder = sandboxedFolder(['repo', 'linked']);
    const { at, git, write } = folder;
    const commit = (name: string) => {
      write(`${name}/a.txt`, 'a\n');
      git(name, 'init', '-q', '-b', 'main');
      git(name, 'add', 'a.txt');
      git(name, 'commit', '-qm', 'first');
    };
    commit('source');
    commit('repo');
    git(
      'repo',
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      at('source'),
      'lib',
    );
    commit('repo/nested');
    git('repo', 'worktree', 'add', '-q', '-f', at('linked'));
    const me = '-c user.name=a -c user.email=a@b.c';
    for (const name of ['repo/lib', 'repo/nested', 'linked']) {
      const command = `echo b > b.txt && git add b.txt && git ${me} commit -qm second && git status --short`;
      expect([name, await folder.run(command, name)]).toEqual([name, { exitCode: 0, output: '' }]);
      expect(git(name, 'log', '--format=%s')).toBe('second\nfirst\n');
    }
  }, 30_000);

  test('creates, renames and removes ordinary files and folders, as package managers do', async () => {
    const folder = setUp();
    const { exitCode } = await folder.run(`set -e
      mkdir -p node_modules/.bin node_modules/x/hooks config refs objects build/.cache
      echo 1 > node_modules/x/config; ln -s ../x/config node_modules/.bin/x; echo 1 > HEAD.md
      mv node_modules/x node_modules/y; cp -r src lib; mv lib src2; rm -rf src2 node_modules
      mkdir .github .vscode; echo 1 > .github/a; echo 1 > .npmrc; echo 1 > CLAUDE.md; mv src source
      git init -q "$TMPDIR/other"; git -C "$TMPDIR/other" config core.fsmonitor false`);
    expect(exitCode).toBe(0);
    expect(existsSync(folder.at('repo/source/a.txt'))).toBe(true);
  }, 30_000);

  test('leaves no placeholder behind, also after commands that ran at the same time', async () => {
    const folder = setUp();
    const before = namesIn(folder);
    await Promise.all([folder.run('sleep 0.3'), folder.run('true'), folder.run('git status')]);
    expect(namesIn(folder)).toEqual(before);
    expect(readdirSync(folder.at('registers'))).toEqual([]);
  }, 30_000);

  test('keeps a placeholder that a person has filled while the command ran', async () => {
    const folder = setUp();
    const running = folder.run('until [ -e go ]; do sleep 0.05; done; cat .skein/settings.json');
    while (!existsSync(folder.at('repo/.skein'))) await new Promise((done) => setTimeout(done, 10));
    folder.write('repo/.skein/settings.json', '{}');
    folder.write('repo/go', '');
    expect(await running).toMatchObject({ output: '{}' });
    expect(existsSync(folder.at('repo/.skein/settings.json'))).toBe(true);
    expect(existsSync(folder.at('repo/.claude'))).toBe(false);
  }, 30_000);

  test('leaves placeholders that another process needs, and removes those of a killed process', async () => {
    const folder = setUp();
    await folder.run('true');
    const other = spawn('sleep', ['600'], { stdio: 'ignore' });
    onTestFinished(() => void other.kill());
    // The register of a workspace exists only while a command runs in it.
    const running = folder.run('until [ -e go ]; do sleep 0.05; done');
    while (!existsSync(folder.at('repo/.skein'))) await new Promise((done) => setTimeout(done, 10));
    const [register = ''] = readdirSync(folder.at('registers'));
    const listed = JSON.stringify([{ path: folder.at('repo/.skein'), kind: 'folder' }]);
    folder.write(`registers/${register}/${other.pid}`, listed);
    folder.write('repo/go', '');
    await running;
    expect(existsSync(folder.at('repo/.skein'))).toBe(true);
    const ended = once(other, 'exit');
    other.kill('SIGKILL');
    await ended;
    await folder.run('true');
    expect(existsSync(folder.at('repo/.skein'))).toBe(false);
    expect(readdirSync(folder.at('registers'))).toEqual([]);
  }, 30_000);
});
