import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gitWorktrees } from '../../../src/host/worktrees/git-worktrees.js';
import { needs } from '../../setup/needs.js';
import { environment, repository, script, temporaryFolder } from '../git/repository.js';
import { refusal, rigOver, worktreeRig } from './worktree-rig.js';

needs.describe('git')('a worktree of an agent', () => {
  test("has its own branch, folder and lock, with the parent's uncommitted changes", async () => {
    const rig = worktreeRig({ 'a.txt': 'one\n', 'gone.txt': 'x', '.gitignore': 'out/\n' });
    const { repo } = rig;
    repo.put('a.txt', 'two\n');
    repo.put('new/b.txt', 'untracked\n');
    repo.put('out/build.txt', 'ignored\n');
    repo.put('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    rmSync(join(repo.path, 'gone.txt'));
    const before = rig.userState();
    const place = await rig.open('a_1');
    expect(place).toMatchObject({
      path: join(rig.home, 'worktrees/s_1/a_1'),
      branch: 'agent/a_1',
      top: repo.path,
      cwd: join(rig.home, 'worktrees/s_1/a_1'),
    });
    const at = (name: string) => join(place.path, name);
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('two\n');
    expect(readFileSync(at('new/b.txt'), 'utf8')).toBe('untracked\n');
    expect(readFileSync(at('staged.txt'), 'utf8')).toBe('staged\n');
    expect(existsSync(at('gone.txt'))).toBe(false);
    expect(existsSync(at('out'))).toBe(false);
    expect(repo.git('-C', place.path, 'status', '--porcelain', '--branch')).toBe('## agent/a_1');
    expect(repo.git('worktree', 'list', '--porcelain')).toContain(
      `locked Skein: agent a_1 works here, from ${place.base}`,
    );
    expect(rig.userState()).toBe(before);
  });

  test('starts at the exact commit of its parent if the tree has no changes', async () => {
    const rig = worktreeRig();
    const { base } = await rig.open('a_1');
    expect(base).toBe(rig.repo.git('rev-parse', 'HEAD'));
  });

  test("has the same subfolder as the parent's working directory", async () => {
    const rig = worktreeRig({ 'deep/down/a.txt': 'one\n' });
    const place = await rig.open('a_1', join(rig.repo.path, 'deep/down'));
    expect(place.cwd).toBe(join(place.path, 'deep/down'));
    expect(readFileSync(join(place.cwd, 'a.txt'), 'utf8')).toBe('one\n');
    rig.change(place, { 'deep/down/a.txt': 'two\n', 'beside.txt': 'x\n' });
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged' });
    expect([rig.read('deep/down/a.txt'), rig.read('beside.txt')]).toEqual(['two\n', 'x\n']);
  });

  test('is reused by a second open, with the work in it', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': 'work\n' });
    expect(await rig.open('a_1')).toEqual(place);
    expect(readFileSync(join(place.path, 'a.txt'), 'utf8')).toBe('work\n');
  });

  test.each([
    ['its folder is gone', (path: string) => rmSync(path, { recursive: true })],
    [
      'only its .git exists',
      (path: string) => {
        rmSync(join(path, 'a.txt'));
        const admin = /gitdir: (.*)\n/.exec(readFileSync(join(path, '.git'), 'utf8'))?.[1] ?? '';
        rmSync(join(admin, 'index'));
      },
    ],
  ])('is repaired when a process died and %s', async (_, harm) => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    harm(place.path);
    expect(await rig.open('a_1')).toEqual(place);
    expect(readFileSync(join(place.path, 'a.txt'), 'utf8')).toBe('one\n');
  });

  test('resumes from the merged commit', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    rig.change(place, { 'b.txt': 'b\n' });
    const merged = await rig.settle('a_1', place);
    rig.repo.put('c.txt', 'by the parent\n');
    const base = 'commit' in merged ? merged.commit : '';
    await rig.worktrees.reopen({ session: 's_1', agent: 'a_1' }, { ...place, base });
    expect(readFileSync(join(place.path, 'b.txt'), 'utf8')).toBe('b\n');
    rig.change(place, { 'b.txt': 'more\n' });
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged', files: ['b.txt'] });
    expect([rig.read('b.txt'), rig.read('c.txt')]).toEqual(['more\n', 'by the parent\n']);
  });

  test('stays for an idle agent, which resumes from the merged commit', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    expect(await rig.settle('a_1', place, { keepsFolder: true })).toEqual({ kind: 'unchanged' });
    rig.change(place, { 'a.txt': 'two\n' });
    const first = await rig.settle('a_1', place, { keepsFolder: true });
    expect(first).toMatchObject({ kind: 'merged', files: ['a.txt'] });
    rig.repo.put('a.txt', 'by the parent\n');
    rig.change(place, { 'b.txt': 'b\n' });
    const then = await rig.settle('a_1', place, { keepsFolder: true });
    expect(then).toMatchObject({ kind: 'merged', files: ['b.txt'] });
    expect([rig.read('a.txt'), rig.read('b.txt')]).toEqual(['by the parent\n', 'b\n']);
    const merged = 'commit' in then ? then.commit : '';
    expect(await rig.settle('a_1', place, { merged })).toEqual({ kind: 'unchanged' });
    expect(existsSync(place.path)).toBe(false);
    // The work that was merged before is still on its branch.
    expect(rig.repo.git('rev-parse', 'agent/a_1')).toBe(merged);
  });

  test('restores the work of its branch after its folder was removed by hand', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': 'theirs\n' });
    rig.repo.put('a.txt', 'ours\n');
    await rig.settle('a_1', place);
    rmSync(place.path, { recursive: true });
    await rig.worktrees.reopen({ session: 's_1', agent: 'a_1' }, place);
    expect(readFileSync(join(place.path, 'a.txt'), 'utf8')).toBe('theirs\n');
    rig.repo.put('a.txt', 'one\n');
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged', files: ['a.txt'] });
    expect(rig.read('a.txt')).toBe('theirs\n');
  });

  test('of a nested agent merges its work into the worktree of the parent', async () => {
    const rig = worktreeRig();
    const above = await rig.open('a_1');
    rig.change(above, { 'a.txt': 'above\n' });
    const below = await rig.open('a_2', above.path);
    expect(below.top).toBe(above.path);
    expect(readFileSync(join(below.path, 'a.txt'), 'utf8')).toBe('above\n');
    rig.change(below, { 'b.txt': 'below\n' });
    expect(await rig.settle('a_2', below)).toMatchObject({ kind: 'merged' });
    expect(readFileSync(join(above.path, 'b.txt'), 'utf8')).toBe('below\n');
    expect(rig.read('b.txt')).toBeUndefined();
    expect(await rig.settle('a_1', above)).toMatchObject({ files: ['a.txt', 'b.txt'] });
    expect([rig.read('a.txt'), rig.read('b.txt')]).toEqual(['above\n', 'below\n']);
  });

  test('can start from a detached HEAD', async () => {
    const rig = worktreeRig();
    rig.repo.git('checkout', '-q', '--detach');
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': 'two\n' });
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged' });
    expect(rig.read('a.txt')).toBe('two\n');
    expect(rig.repo.git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('HEAD');
  });

  test('has files with unresolved conflicts of the user as they are on disk', async () => {
    const rig = worktreeRig();
    const { repo } = rig;
    repo.git('checkout', '-q', '-b', 'other');
    repo.put('a.txt', 'other\n');
    repo.git('commit', '-qam', 'other');
    repo.git('checkout', '-q', 'main');
    repo.put('a.txt', 'main\n');
    repo.git('commit', '-qam', 'main');
    expect(() => repo.git('merge', '-q', 'other')).toThrow('Command failed');
    const open = repo.git('ls-files', '-u');
    const place = await rig.open('a_1');
    expect(readFileSync(join(place.path, 'a.txt'), 'utf8')).toBe(rig.read('a.txt'));
    expect(repo.git('ls-files', '-u')).toBe(open);
  });

  test('leaves submodules and nested repositories unchanged', async () => {
    const rig = worktreeRig();
    const { repo } = rig;
    const inner = repository();
    inner.put('in.txt', 'in\n');
    inner.git('add', '.');
    inner.commit('inner');
    repo.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner.path, 'module');
    repo.commit('module');
    repo.put('module/in.txt', 'changed\n');
    repo.git('init', '-q', 'nested');
    repo.put('nested/x.txt', 'x\n');
    const place = await rig.open('a_1');
    expect(existsSync(join(place.path, 'module/in.txt'))).toBe(false);
    expect(existsSync(join(place.path, 'nested'))).toBe(false);
    rig.change(place, { 'a.txt': 'two\n' });
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged', files: ['a.txt'] });
    expect(existsSync(place.path)).toBe(false);
    expect(rig.read('module/in.txt')).toBe('changed\n');
    expect(rig.read('nested/x.txt')).toBe('x\n');
  });

  test('is refused outside of a repository, in a bare repository, and before the first commit', async () => {
    const folder = temporaryFolder();
    const home = { folder: join(folder, 'w'), excluded: [], environment: environment() };
    const open = (cwd: string) => gitWorktrees(home).open({ session: 's', agent: 'a', cwd });
    expect(await refusal(open(folder))).toMatch(/need the working tree of a git repository/);
    expect(await refusal(open(repository('--bare').path))).toMatch(/need the working tree/);
    const empty = repository();
    expect(await refusal(open(empty.path))).toMatch(/has no commit yet.*commit once/);
  });

  test('is refused without git', async () => {
    const rig = worktreeRig();
    const home = { folder: join(rig.home, 'w'), excluded: [], environment: { PATH: rig.home } };
    const opened = gitWorktrees(home).open({ session: 's', agent: 'a', cwd: rig.repo.path });
    expect(await refusal(opened)).toMatch(/2\.38 or newer/);
  });

  test('is refused with a git that cannot merge, before a branch is created', async () => {
    const rig = worktreeRig();
    const real = '/usr/bin/git';
    script(
      join(rig.repo.folder, 'bin/git'),
      `case "$*" in *version) echo 'git version 2.37.9';; *) exec ${real} "$@";; esac`,
    );
    const env = environment();
    const PATH = `${join(rig.repo.folder, 'bin')}:${env.PATH}`;
    const home = { folder: join(rig.home, 'w'), excluded: [], environment: { ...env, PATH } };
    const opened = gitWorktrees(home).open({ session: 's', agent: 'a', cwd: rig.repo.path });
    expect(await refusal(opened)).toMatch(/need git 2\.38 or newer.*git version 2\.37\.9/);
    expect(rig.repo.git('branch', '--list', 'agent/*')).toBe('');
  });

  test('is refused if another folder is at its path', async () => {
    const rig = worktreeRig();
    const path = join(rig.home, 'worktrees/s_1/a_1');
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'mine.txt'), 'mine');
    expect(await refusal(rig.open('a_1'))).toMatch(/already exists/);
    expect(readFileSync(join(path, 'mine.txt'), 'utf8')).toBe('mine');
  });
});

needs.describe('git')('the work of an agent', () => {
  test('is merged into the tree, and changes only files, not the index or HEAD', async () => {
    const rig = worktreeRig({
      'a.txt': 'one\n',
      'gone.txt': 'x\n',
      'old.txt': 'long enough to be the same\n',
      'deep/only.txt': 'x\n',
      'kept.txt': 'kept\n',
    });
    const { repo } = rig;
    repo.put('kept.txt', 'dirty\n');
    repo.put('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    const place = await rig.open('a_1');
    rig.change(place, {
      'a.txt': 'two\n',
      'gone.txt': undefined,
      'new/b.txt': 'new\n',
      'old.txt': undefined,
      'moved.txt': 'long enough to be the same\n',
      'deep/only.txt': undefined,
    });
    repo.put('beside.txt', 'by somebody else\n');
    const index = repo.git('ls-files', '-s');
    const head = repo.git('rev-parse', 'HEAD');
    const settled = await rig.settle('a_1', place);
    expect(settled).toMatchObject({
      kind: 'merged',
      files: ['a.txt', 'deep/only.txt', 'gone.txt', 'moved.txt', 'new/b.txt', 'old.txt'],
    });
    expect(rig.read('a.txt')).toBe('two\n');
    expect(rig.read('new/b.txt')).toBe('new\n');
    expect(rig.read('moved.txt')).toBe('long enough to be the same\n');
    expect(['gone.txt', 'old.txt', 'deep'].map(rig.read)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([rig.read('kept.txt'), rig.read('beside.txt')]).toEqual([
      'dirty\n',
      'by somebody else\n',
    ]);
    expect(repo.git('ls-files', '-s')).toBe(index);
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
    expect(repo.git('stash', 'list')).toBe('');
    expect(existsSync(place.path)).toBe(false);
    expect(existsSync(join(rig.home, 'worktrees/s_1'))).toBe(false);
    expect(repo.git('rev-parse', 'agent/a_1')).toBe('commit' in settled ? settled.commit : '');
  });

  test('is available as a patch', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': 'two\n' });
    const order = { agent: 'a_1', place, ignoredFiles: [], beforeMerge: async () => undefined };
    const { diff } = await rig.worktrees.settle(order);
    expect(Buffer.from(diff).toString()).toContain(
      '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n',
    );
  });

  test('is merged with changes of the parent in the same file', async () => {
    const lines = ['1', '2', '3', '4', '5', '6', '7', '8', ''];
    const rig = worktreeRig({ 'a.txt': lines.join('\n') });
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': lines.with(0, 'theirs').join('\n') });
    rig.repo.put('a.txt', lines.with(7, 'ours').join('\n'));
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged' });
    expect(rig.read('a.txt')).toBe(lines.with(0, 'theirs').with(7, 'ours').join('\n'));
  });

  test('keeps bytes, modes and links', async () => {
    const rig = worktreeRig({ 'a.txt': 'one\n', 'run.sh': 'x\n', 'was-link': 'x\n' });
    const { repo } = rig;
    chmodSync(join(repo.path, 'a.txt'), 0o600);
    const place = await rig.open('a_1');
    const bytes = Buffer.from([0, 255, 13, 10, 0, 128]);
    writeFileSync(join(place.path, 'image.png'), bytes);
    chmodSync(join(place.path, 'run.sh'), 0o755);
    symlinkSync('a.txt', join(place.path, 'link'));
    rmSync(join(place.path, 'was-link'));
    symlinkSync('../elsewhere', join(place.path, 'was-link'));
    rig.change(place, { 'a.txt': 'two\n' });
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged' });
    const at = (name: string) => join(repo.path, name);
    expect(readFileSync(at('image.png')).equals(bytes)).toBe(true);
    expect(statSync(at('run.sh')).mode & 0o111).toBe(0o111);
    expect(statSync(at('a.txt')).mode & 0o777).toBe(0o600);
    expect([readlinkSync(at('link')), readlinkSync(at('was-link'))]).toEqual([
      'a.txt',
      '../elsewhere',
    ]);
  });

  test('has the line endings of the target tree', async () => {
    const rig = worktreeRig({ 'a.txt': 'one\r\n', '.gitattributes': '*.txt text eol=crlf\n' });
    const place = await rig.open('a_1');
    expect(readFileSync(join(place.path, 'a.txt'), 'utf8')).toBe('one\r\n');
    rig.change(place, { 'a.txt': 'one\r\ntwo\r\n' });
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged', files: ['a.txt'] });
    expect(rig.read('a.txt')).toBe('one\r\ntwo\r\n');
  });

  test('includes its own commits on any branch', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    const { git } = rig.repo;
    rig.change(place, { 'b.txt': 'b\n' });
    git('-C', place.path, 'checkout', '-q', '-b', 'mine');
    git('-C', place.path, 'add', '.');
    git('-C', place.path, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'own');
    const own = git('rev-parse', 'mine');
    rig.change(place, { 'c.txt': 'c\n' });
    expect(await rig.settle('a_1', place)).toMatchObject({ files: ['b.txt', 'c.txt'] });
    expect([rig.read('b.txt'), rig.read('c.txt')]).toEqual(['b\n', 'c\n']);
    expect(git('merge-base', '--is-ancestor', own, 'agent/a_1')).toBe('');
    expect(git('log', '-1', '--format=%an <%ae>', 'agent/a_1')).toBe('Skein <skein@localhost>');
  });

  test('includes only the ignored files that the agent used', async () => {
    const rig = worktreeRig({ '.gitignore': 'out/\n', 'a.txt': 'x\n' });
    const place = await rig.open('a_1');
    rig.change(place, { 'out/report.md': 'mine\n', 'out/build.o': 'built\n' });
    const ignoredFiles = [
      join(place.path, 'out/report.md'),
      join(place.path, 'a.txt'),
      '/etc/passwd',
    ];
    expect(await rig.settle('a_1', place, { ignoredFiles })).toMatchObject({
      kind: 'merged',
      files: ['out/report.md'],
    });
    expect([rig.read('out/report.md'), rig.read('out/build.o')]).toEqual(['mine\n', undefined]);
  });

  test('includes ignored files in repeated merges', async () => {
    const rig = worktreeRig({ '.gitignore': 'out/\n', 'a.txt': 'x\n' });
    const place = await rig.open('a_1');
    const ignoredFiles = [join(place.path, 'out/report.md')];
    rig.change(place, { 'out/report.md': 'mine\n' });
    await rig.settle('a_1', place, { ignoredFiles, keepsFolder: true });
    expect(await rig.settle('a_1', place, { ignoredFiles, keepsFolder: true })).toEqual({
      kind: 'unchanged',
    });
    rig.change(place, { 'out/report.md': 'mine\nand more\n' });
    expect(await rig.settle('a_1', place, { ignoredFiles })).toMatchObject({ kind: 'merged' });
    expect(rig.read('out/report.md')).toBe('mine\nand more\n');
    // As if the process had died before it recorded the merge.
    expect(await rig.settle('a_1', place, { ignoredFiles })).toMatchObject({ kind: 'merged' });
  });

  test('leaves neither folder nor branch if no file was changed', async () => {
    const rig = worktreeRig();
    rig.repo.put('dirty.txt', 'dirty\n');
    const place = await rig.open('a_1');
    expect(await rig.settle('a_1', place)).toEqual({ kind: 'unchanged' });
    expect(existsSync(place.path)).toBe(false);
    expect(rig.repo.git('branch', '--list', 'agent/*')).toBe('');
    expect(await rig.settle('a_1', place)).toEqual({ kind: 'unchanged' });
  });

  test('may consist of a deletion only', async () => {
    const rig = worktreeRig({ 'a.txt': 'one\n' });
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': undefined });
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged', files: ['a.txt'] });
    expect(rig.read('a.txt')).toBeUndefined();
  });

  test('keeps its folder if another repository is inside', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    rig.repo.git('init', '-q', join(place.path, 'clone'));
    rig.change(place, { 'clone/x.txt': 'x\n', 'b.txt': 'b\n' });
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged', isLeft: true });
    expect(rig.read('b.txt')).toBe('b\n');
    expect(readFileSync(join(place.path, 'clone/x.txt'), 'utf8')).toBe('x\n');
  });

  test('is merged once, even if the merge is repeated', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': 'two\n', 'b.txt': 'b\n' });
    await rig.settle('a_1', place);
    // As if the process had died before it recorded the merge.
    expect(await rig.settle('a_1', place)).toMatchObject({
      kind: 'merged',
      files: ['a.txt', 'b.txt'],
    });
    rig.repo.put('a.txt', 'and on\n');
    rmSync(join(rig.repo.path, 'b.txt'));
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'conflict' });
    expect(rig.read('a.txt')).toBe('and on\n');
  });

  test('continues a merge that stopped after the first file', async () => {
    const rig = worktreeRig({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': 'two\n', 'b.txt': 'two\n' });
    rig.repo.put('a.txt', 'two\n');
    expect(await rig.settle('a_1', place)).toMatchObject({ files: ['a.txt', 'b.txt'] });
    expect(rig.read('b.txt')).toBe('two\n');
  });

  test('is kept if git fails', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': 'two\n' });
    const home = { folder: join(rig.home, 'worktrees'), excluded: [], environment: { PATH: '/x' } };
    const { settlement } = await gitWorktrees(home).settle({
      agent: 'a_1',
      place,
      ignoredFiles: [],
      beforeMerge: async () => undefined,
    });
    expect(settlement).toMatchObject({
      kind: 'kept',
      why: expect.stringMatching(/git cannot be used/),
    });
    expect(readFileSync(join(place.path, 'a.txt'), 'utf8')).toBe('two\n');
    expect(rig.read('a.txt')).toBe('one\n');
  });

  test('is kept if the merge cannot be recorded', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': 'two\n' });
    const meanwhile = () => {
      throw new Error('the disk is full');
    };
    expect(await rig.settle('a_1', place, { meanwhile })).toEqual({
      kind: 'kept',
      why: 'the disk is full',
    });
    expect(rig.read('a.txt')).toBe('one\n');
    expect(existsSync(place.path)).toBe(true);
  });
});

needs.describe('git')('a merge conflict', () => {
  test.each([
    ['both sides changed a line', { 'a.txt': 'theirs\n' }, { 'a.txt': 'ours\n' }, 'a.txt'],
    [
      'the parent removed a file that the agent changed',
      { 'a.txt': 'theirs\n' },
      { 'a.txt': undefined },
      'a.txt',
    ],
    [
      'the parent changed a file that the agent removed',
      { 'a.txt': undefined },
      { 'a.txt': 'ours\n' },
      'a.txt',
    ],
    ['both sides created a file', { 'n.txt': 'theirs\n' }, { 'n.txt': 'ours\n' }, 'n.txt'],
    ['a folder is at the path of a new file', { n: 'theirs\n' }, { 'n/x.txt': 'ours\n' }, 'n'],
  ])('leaves both sides unchanged when %s', async (_, theirs, ours, path) => {
    const rig = worktreeRig({ 'a.txt': 'one\n', 'free.txt': 'one\n' });
    const place = await rig.open('a_1');
    rig.change(place, { ...theirs, 'free.txt': 'two\n' });
    rig.change({ ...place, path: rig.repo.path }, ours);
    const before = rig.repo.git('status', '--porcelain');
    const settled = await rig.settle('a_1', place);
    expect(settled).toMatchObject({ kind: 'conflict', conflicts: [{}] });
    expect('conflicts' in settled && settled.conflicts[0]?.path).toContain(path);
    expect(rig.repo.git('status', '--porcelain')).toBe(before);
    expect(rig.read('free.txt')).toBe('one\n');
    expect(existsSync(place.path)).toBe(true);
    const commit = 'commit' in settled ? settled.commit : '';
    expect(rig.repo.git('rev-parse', 'agent/a_1')).toBe(commit);
    expect(rig.repo.git('-C', place.path, 'status', '--porcelain')).toBe('');
    expect(rig.repo.git('show', 'agent/a_1:free.txt')).toBe('two');
  });

  test('occurs if a file changes during the merge', async () => {
    const rig = worktreeRig({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': 'theirs\n', 'b.txt': 'theirs\n', 'n.txt': 'theirs\n' });
    const meanwhile = () => {
      rig.repo.put('b.txt', 'in between\n');
      rig.repo.put('n.txt', 'in between\n');
    };
    const settled = await rig.settle('a_1', place, { meanwhile });
    expect(settled).toMatchObject({
      kind: 'conflict',
      conflicts: [{ path: 'b.txt', why: 'it was changed while it was merged' }],
    });
    expect(['a.txt', 'b.txt', 'n.txt'].map(rig.read)).toEqual([
      'one\n',
      'in between\n',
      'in between\n',
    ]);
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'conflict' });
  });

  test('occurs if an ignored file of the parent is at the same path', async () => {
    const rig = worktreeRig({ 'a.txt': 'x\n', '.gitignore': 'note.md\n' });
    rig.repo.put('note.md', 'of the user\n');
    const place = await rig.open('a_1');
    rig.change(place, { 'note.md': 'of the agent\n' });
    const ignoredFiles = [join(place.path, 'note.md')];
    expect(await rig.settle('a_1', place, { ignoredFiles })).toMatchObject({
      conflicts: [{ path: 'note.md', why: 'both sides have changed it' }],
    });
    expect(rig.read('note.md')).toBe('of the user\n');
  });

  test('occurs if an ignored link of the parent is on the path', async () => {
    const rig = worktreeRig({ 'a.txt': 'x\n', '.gitignore': 'out\n' });
    mkdirSync(join(rig.repo.folder, 'elsewhere'));
    symlinkSync(join(rig.repo.folder, 'elsewhere'), join(rig.repo.path, 'out'));
    const place = await rig.open('a_1');
    rig.change(place, { 'out/x.txt': 'x\n' });
    const ignoredFiles = [join(place.path, 'out/x.txt')];
    expect(await rig.settle('a_1', place, { ignoredFiles })).toMatchObject({ kind: 'conflict' });
    expect(existsSync(join(rig.repo.folder, 'elsewhere/x.txt'))).toBe(false);
    expect(lstatSync(join(rig.repo.path, 'out')).isSymbolicLink()).toBe(true);
  });

  test('is resolved when the parent restores the file', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': 'theirs\n' });
    rig.repo.put('a.txt', 'ours\n');
    await rig.settle('a_1', place);
    rig.repo.put('a.txt', 'one\n');
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged', files: ['a.txt'] });
    expect(rig.read('a.txt')).toBe('theirs\n');
  });
});

needs.describe('git')('a hostile repository', () => {
  test('runs none of the programs that it configures', async () => {
    const repo = repository();
    const marker = join(repo.folder, 'marker');
    const program = script(join(repo.folder, 'program'), `echo "$0 $*" >> '${marker}'`);
    repo.put('a.txt', '1\n2\n3\n4\n5\n6\n7\n8\n');
    repo.put('b.txt', 'one\n');
    repo.put('.gitattributes', 'a.txt merge=mine filter=mine diff=mine\nb.txt merge=mine\n');
    repo.git('add', '.');
    repo.commit('first');
    for (const name of [
      'post-checkout',
      'post-index-change',
      'reference-transaction',
      'pre-commit',
    ]) {
      script(join(repo.path, '.git/hooks', name), `echo ${name} >> '${marker}'`);
    }
    for (const [key, value] of Object.entries({
      'merge.mine.driver': program,
      'filter.mine.clean': program,
      'filter.mine.smudge': program,
      'filter.mine.process': program,
      'diff.mine.textconv': program,
      'diff.mine.command': program,
      'diff.external': program,
      'core.fsmonitor': program,
      'gpg.program': program,
      'commit.gpgSign': 'true',
      'core.pager': program,
      'core.editor': program,
      'core.alternateRefsCommand': program,
    })) {
      repo.git('config', key, value);
    }
    const rig = rigOver(repo);
    rmSync(marker, { force: true });
    repo.put('b.txt', 'dirty\n');
    rmSync(marker, { force: true });
    const place = await rig.open('a_1');
    rig.change(place, { 'a.txt': 'theirs\n2\n3\n4\n5\n6\n7\n8\n', 'c.txt': 'c\n' });
    repo.put('a.txt', '1\n2\n3\n4\n5\n6\n7\nours\n');
    const settled = await rig.settle('a_1', place);
    expect(existsSync(marker) ? readFileSync(marker, 'utf8') : '').toBe('');
    // Files that only a program of the repository may merge are left to people.
    expect(settled).toMatchObject({ kind: 'conflict', conflicts: [{ path: 'a.txt' }] });
  });

  test('merges file names of any length and characters', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    const names = [
      `${'long'.repeat(60)}.txt`,
      'new\nline.txt',
      '-rf',
      ':(glob)x',
      '"quoted".txt',
      'ü.txt',
      `${'deep/'.repeat(40)}x.txt`,
      ' space ',
      '$(touch x)',
    ];
    rig.change(place, Object.fromEntries(names.map((name) => [name, `${name}\n`])));
    expect(await rig.settle('a_1', place)).toMatchObject({ kind: 'merged' });
    for (const name of names) expect(rig.read(name)).toBe(`${name}\n`);
  });

  test('keeps a file with an invalid name on its branch', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    writeFileSync(Buffer.concat([Buffer.from(`${place.path}/`), Buffer.from([0xff, 0xfe])]), 'x');
    expect(await rig.settle('a_1', place)).toMatchObject({
      kind: 'conflict',
      conflicts: [{ why: 'its name is not valid UTF-8' }],
    });
    expect(rig.repo.git('ls-tree', '--name-only', 'agent/a_1')).toContain('\\377\\376');
  });
});
