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
  const home = { folder, without: [], environment: environment() };
  const look = (wanted = 'origin', cwd = repo.path) => workspaceRemote(wanted, cwd, home);
  return { repo, commit, url, look };
};

needs.describe('git')('The remote that other machines clone', () => {
  test('is known by its name or its URL, with the commit and the folder of the lead', async () => {
    const { repo, commit, url, look } = scene();
    const terms = { url, commit, prefix: '', top: repo.path, branch: 'main' };
    expect(await look()).toEqual({ terms, notices: [] });
    expect(await look(url, join(repo.path, 'deep'))).toEqual({
      terms: { ...terms, prefix: 'deep' },
      notices: [],
    });
    repo.git('remote', 'add', 'beside', '../remote.git');
    expect((await look('beside')).terms?.url).toBe(url);
    repo.git('checkout', '-q', '--detach');
    expect((await look()).terms).not.toHaveProperty('branch');
  });

  test('lacks what is not committed and what is not pushed, which is one notice', async () => {
    const { repo, url, look } = scene();
    repo.put('deep/a.txt', 'two\n');
    expect((await look()).notices).toEqual([
      expect.stringMatching(/^What is not committed in .* they begin with the commit \w{12}\.$/),
    ]);
    repo.git('add', '.');
    const commit = repo.commit('second');
    repo.put('b.txt', 'new\n');
    const { terms, notices } = await look();
    expect(terms?.commit).toBe(commit);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain(`${url} does not have the commit ${commit.slice(0, 12)} yet`);
    expect(notices[0]).toContain('What is not committed');
  });

  test('has what another branch has, further on', async () => {
    const { repo, look } = scene();
    repo.git('checkout', '-q', '-b', 'next');
    repo.commit('second');
    repo.git('push', '-q', 'origin', 'next');
    repo.git('checkout', '-q', 'main');
    expect((await look()).notices).toEqual([]);
  });

  test.each([
    ['https://me:hush@git.corp/x.git', 'https://git.corp/x.git'],
    ['ssh://git:hush@git.corp/x.git', 'ssh://git@git.corp/x.git'],
  ])('is told to nobody with its secrets: %s', async (url, shown) => {
    const { repo, look } = scene();
    repo.git('remote', 'add', 'corp', url);
    const { notices } = await look('corp');
    expect(notices).toEqual([expect.stringContaining(shown)]);
    expect(notices[0]).not.toContain('hush');
  });

  test('is missed in a sentence, and nothing else happens', async () => {
    const { look } = scene();
    const why = 'No worker on another machine can clone this workspace (skein.workspaceRemote): ';
    const { notices, terms } = await look('upstream');
    expect([terms, notices]).toEqual([undefined, [expect.stringContaining(why)]]);
    expect(notices[0]).toContain('no remote called "upstream"');
    expect((await look('origin', temporaryFolder())).notices).toEqual([
      expect.stringContaining('is in none'),
    ]);
    expect((await look('/nowhere/at/all')).notices).toEqual([expect.stringContaining(why)]);
  });
});
