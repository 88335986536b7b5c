import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRemote } from '../../../src/sdk/lead-config/workspace-remote.js';
import { environment, repository, temporaryFolder } from '../../host/git/repository.js';
import { needs } from '../../setup/needs.js';

const scene = () => {
  const repo = repository();
  repo.put('deep/a.txt', 'one\n');
  repo.git('add', '.');
  const commit = repo.commit('first');
  const url = join(repo.folder, 'remote.git');
  execFileSync('git', ['init', '-q', '--bare', url]);
  repo.git('remote', 'add', 'origin', url);
  repo.git('push', '-q', 'origin', 'main');
  const folder = join(temporaryFolder(), 'worktrees');
  mkdirSync(folder);
  const home = { folder, excluded: [], environment: environment() };
  const find = (remote = 'origin', cwd = repo.path) => workspaceRemote(remote, cwd, home);
  return { repo, commit, url, find };
};

needs.describe('git')('the workspace remote', () => {
  test('is found by name or URL, with the commit and the folder of the lead', async () => {
    const { repo, commit, url, find } = scene();
    const source = { url, commit, prefix: '', top: repo.path, branch: 'main' };
    expect(await find()).toEqual({ source, notices: [] });
    expect(await find(url, join(repo.path, 'deep'))).toEqual({
      source: { ...source, prefix: 'deep' },
      notices: [],
    });
    repo.git('remote', 'add', 'beside', '../remote.git');
    expect((await find('beside')).source?.url).toBe(url);
    repo.git('checkout', '-q', '--detach');
    expect((await find()).source).not.toHaveProperty('branch');
  });

  test('has one notice about uncommitted changes and unpushed commits', async () => {
    const { repo, url, find } = scene();
    repo.put('deep/a.txt', 'two\n');
    expect((await find()).notices).toEqual([
      expect.stringMatching(
        /^Agents on other machines start from commit \w{12} and do not see uncommitted changes in .*\.$/,
      ),
    ]);
    repo.git('add', '.');
    const commit = repo.commit('second');
    repo.put('b.txt', 'new\n');
    const { source, notices } = await find();
    expect(source?.commit).toBe(commit);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain(`${url} does not have commit ${commit.slice(0, 12)} yet`);
    expect(notices[0]).toContain('do not see uncommitted changes');
  });

  test('has a commit that is an ancestor of another branch', async () => {
    const { repo, find } = scene();
    repo.git('checkout', '-q', '-b', 'next');
    repo.commit('second');
    repo.git('push', '-q', 'origin', 'next');
    repo.git('checkout', '-q', 'main');
    expect((await find()).notices).toEqual([]);
  });

  test.each([
    ['https://me:hush@git.corp/x.git', 'https://git.corp/x.git'],
    ['ssh://git:hush@git.corp/x.git', 'ssh://git@git.corp/x.git'],
  ])('is published without its credentials: %s', async (url, shown) => {
    const { repo, find } = scene();
    repo.git('remote', 'add', 'corp', url);
    const { notices } = await find('corp');
    expect(notices).toEqual([expect.stringContaining(shown)]);
    expect(notices[0]).not.toContain('hush');
  });

  test('that cannot be used is one notice', async () => {
    const { find } = scene();
    const why = 'No worker on another machine can clone this workspace (skein.workspaceRemote): ';
    const { notices, source } = await find('upstream');
    expect([source, notices]).toEqual([undefined, [expect.stringContaining(why)]]);
    expect(notices[0]).toContain('no remote called "upstream"');
    expect((await find('origin', temporaryFolder())).notices).toEqual([
      expect.stringContaining('is not in one'),
    ]);
    expect((await find('/nowhere/at/all')).notices).toEqual([expect.stringContaining(why)]);
  });
});
