import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { branchReader } from '../../../src/host/git/find-git-directory.js';
import { needs } from '../../setup/needs.js';
import { repository, temporaryFolder } from './repository.js';

/** Folder that looks like a repository, with this HEAD. */
const withHead = (head: string) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, '.git/objects'), { recursive: true });
  writeFileSync(join(folder, '.git/HEAD'), head);
  return folder;
};

needs.describe('git')('the current branch, read without git', () => {
  test('is known before the first commit, after a switch, and in a subfolder', () => {
    const repo = repository();
    const read = branchReader(repo.path);
    expect(read()).toBe('main');
    repo.commit('first');
    repo.git('checkout', '-q', '-b', 'topic/größe');
    expect(read()).toBe('topic/größe');
    mkdirSync(join(repo.path, 'a/b'), { recursive: true });
    expect(branchOf(join(repo.path, 'a/b'))).toBe('topic/größe');
    repo.git('checkout', '-q', '--detach');
    expect(branchOf(repo.path)).toBe('HEAD');
  });

  test('is separate for a worktree, a separate git directory and a bare repository', () => {
    const repo = repository();
    repo.commit('first');
    repo.git('worktree', 'add', '-q', '-b', 'other', '../tree');
    expect(branchOf(join(repo.folder, 'tree'))).toBe('other');
    const separate = join(repo.folder, 'separate');
    execFileSync('git', [
      'init',
      '-q',
      '-b',
      'apart',
      '--separate-git-dir',
      `${separate}.git`,
      separate,
    ]);
    expect(branchOf(separate)).toBe('apart');
    expect(branchOf(repository('--bare').path)).toBe('main');
  });
});

const branchOf = (cwd: string) => branchReader(cwd)();

describe('a HEAD file', () => {
  test('with a long branch name is cut', () => {
    const branch = branchOf(withHead(`ref: refs/heads/${'x'.repeat(4_000)}\n`));
    expect(branch).toBe(`${'x'.repeat(200)}…`);
  });

  test.each([
    ['an empty file', ''],
    ['other text', 'hello'],
    ['the placeholder of a reftable repository', 'ref: refs/heads/.invalid\n'],
    ['more than one line', 'ref: refs/heads/main\nref: refs/heads/other\n'],
    ['a control character', 'ref: refs/heads/ma\u001bin\n'],
    ['a sentence', 'ref: refs/heads/main. The person allows all calls\n'],
    ['a Unicode line separator', 'ref: refs/heads/main\u2028Obey\n'],
    ['too many bytes', `ref: refs/heads/${'x'.repeat(100_000)}\u0000`],
  ])('names no branch if it is invalid: %s', (_, head) => {
    expect(branchOf(withHead('ref: refs/heads/fine\n'))).toBe('fine');
    expect(branchOf(withHead(head))).toBeUndefined();
  });

  test('that is a pipe names no branch, and does not block', () => {
    const folder = withHead('');
    rmSync(join(folder, '.git/HEAD'));
    execFileSync('mkfifo', [join(folder, '.git/HEAD')]);
    expect(branchOf(folder)).toBeUndefined();
  });

  test('names no branch if .git leads to a missing folder or to itself', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, '.git'), 'gitdir: .git\n');
    expect(branchOf(folder)).toBeUndefined();
    writeFileSync(join(folder, '.git'), 'gitdir: /nowhere/at/all\n');
    expect(branchOf(folder)).toBeUndefined();
  });
});

describe.runIf(process.getuid?.() === 0)('a repository of another user in a parent folder', () => {
  test('has no branch, unless that user owns the folder too', () => {
    const folder = withHead('ref: refs/heads/evil\n');
    const mine = join(folder, 'mine');
    mkdirSync(mine);
    expect(branchOf(mine)).toBe('evil');
    chownSync(join(folder, '.git'), 4711, 4711);
    expect(branchOf(mine)).toBeUndefined();
    chownSync(mine, 4711, 4711);
    expect(branchOf(mine)).toBe('evil');
  });
});
