import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { clonePath } from '../../../src/host/git/git-clone.js';
import { type CloneSource, cloneWorktrees } from '../../../src/host/worktrees/clone-worktrees.js';
import { leftoverWorktrees, sweepWorktree } from '../../../src/host/worktrees/sweep-worktree.js';
import type { CloneLocation } from '../../../src/protocol/tools/worktrees.js';
import { needs } from '../../setup/needs.js';
import {
  environment,
  type Repository,
  repository,
  script,
  temporaryFolder,
} from '../git/repository.js';
import { refusal } from './worktree-rig.js';

/** Repository of a lead, and a bare repository that all machines can reach. */
const scene = (files: Readonly<Record<string, string>> = { 'a.txt': 'one\n' }) => {
  const repo = repository();
  for (const [name, text] of Object.entries(files)) repo.put(name, text);
  repo.git('add', '.');
  const commit = repo.commit('first');
  const url = join(repo.folder, 'remote.git');
  execFileSync('git', ['init', '-q', '--bare', url]);
  repo.git('push', '-q', url, 'main');
  return { repo, commit, url };
};

const machine = (
  { repo, commit, url }: ReturnType<typeof scene>,
  more: Partial<CloneSource> = {},
) => {
  const folder = join(temporaryFolder(), 'worktrees');
  const home = { folder, excluded: [dirname(folder)], environment: environment() };
  const source = { url, commit, prefix: '', top: repo.path, host: 'barn', isAway: true, ...more };
  const clones = cloneWorktrees(home, source);
  const move = (before?: CloneLocation, agent = 'a_1') =>
    clones.move({ session: 's_1', agent, before });
  const deliver = async (cloned: CloneLocation, stays = false) =>
    (await clones.deliver({ agent: 'a_1', cloned, ignoredFiles: [], keepsFolder: stays }))
      .settlement;
  return { ...clones, folder, move, deliver };
};

const put = ({ place }: CloneLocation, name: string, text: string) => {
  const file = join(place.path, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

const at = ({ place }: CloneLocation, name: string) => readFileSync(join(place.path, name), 'utf8');

/** Content of a file on the agent's branch of the remote. */
const pushed = ({ repo, url }: { repo: Repository; url: string }, name: string) =>
  repo.git('--git-dir', url, 'show', `agent/a_1:${name}`);

needs.describe('git')('a clone for an agent on another machine', () => {
  test('has the commit of the lead, on its own branch, in the same subfolder', async () => {
    const lead = scene({ 'deep/a.txt': 'one\n' });
    const { move, isHere, folder } = machine(lead, { prefix: 'deep' });
    const cloned = await move();
    const path = join(folder, 's_1/a_1');
    expect(cloned).toEqual({
      host: 'barn',
      url: lead.url,
      tip: lead.commit,
      place: {
        path,
        branch: 'agent/a_1',
        base: lead.commit,
        top: lead.repo.path,
        cwd: join(path, 'deep'),
      },
    });
    expect(at(cloned, 'deep/a.txt')).toBe('one\n');
    expect(isHere(cloned)).toBe(true);
    expect(isHere({ ...cloned, host: 'field' })).toBe(false);
  });

  test('is pushed only to its own branch when the agent ends', async () => {
    const lead = scene();
    const { move, deliver, isHere } = machine(lead);
    const cloned = await move();
    put(cloned, 'a.txt', 'two\n');
    put(cloned, 'new/b.txt', 'more\n');
    const settled = await deliver(cloned);
    const tip = lead.repo.git('--git-dir', lead.url, 'rev-parse', 'agent/a_1');
    expect(settled).toEqual({
      kind: 'pushed',
      files: ['a.txt', 'new/b.txt'],
      commit: tip,
      url: lead.url,
    });
    expect(pushed(lead, 'new/b.txt')).toBe('more');
    expect(lead.repo.git('--git-dir', lead.url, 'rev-parse', 'main')).toBe(lead.commit);
    expect(lead.repo.git('status', '--porcelain')).toBe('');
    expect(isHere(cloned)).toBe(false);
  });

  test('is removed without a push if the agent changed no files', async () => {
    const lead = scene();
    const { move, deliver } = machine(lead);
    const cloned = await move();
    expect(await deliver(cloned)).toEqual({ kind: 'unchanged' });
    expect(existsSync(cloned.place.path)).toBe(false);
    expect(lead.repo.git('--git-dir', lead.url, 'branch', '--list', 'agent/*')).toBe('');
  });

  test('continues on another machine with the work that was pushed at the hand-over', async () => {
    const lead = scene();
    const barn = machine(lead);
    const there = await barn.move();
    put(there, 'a.txt', 'half\n');
    expect(await barn.deliver(there, true)).toMatchObject({ kind: 'pushed' });
    expect(barn.isHere(there)).toBe(true);
    const field = machine(lead, { host: 'field' });
    expect(field.isHere(there)).toBe(false);
    const here = await field.move(there);
    expect(here).toMatchObject({ host: 'field', place: { base: lead.commit } });
    expect(here.tip).not.toBe(lead.commit);
    expect(at(here, 'a.txt')).toBe('half\n');
    put(here, 'a.txt', 'whole\n');
    expect(await field.deliver(here)).toMatchObject({ kind: 'pushed', files: ['a.txt'] });
    expect(pushed(lead, 'a.txt')).toBe('whole');
  });

  test('continues on another machine without the unpushed work of a crash, which stays on the first', async () => {
    const lead = scene();
    const barn = machine(lead);
    const there = await barn.move();
    put(there, 'a.txt', 'half\n');
    const field = machine(lead, { host: 'field' });
    const here = await field.move(there);
    expect(here.tip).toBe(lead.commit);
    put(here, 'a.txt', 'other\n');
    await field.deliver(here, true);
    // Back on the first machine: the unpushed work is on a branch of the clone.
    const back = await barn.move(here);
    expect(at(back, 'a.txt')).toBe('other\n');
    const clone = clonePath(barn.folder, lead.url);
    const left = lead.repo.git(
      '--git-dir',
      clone,
      'for-each-ref',
      '--format=%(refname)',
      'refs/heads/left',
    );
    expect(lead.repo.git('--git-dir', clone, 'show', `${left}:a.txt`)).toBe('half');
  });

  test('is delivered once, even after repeated crashes during the delivery', async () => {
    const lead = scene();
    const barn = machine(lead);
    const there = await barn.move();
    put(there, 'a.txt', 'two\n');
    const settled = await barn.deliver(there);
    expect(settled).toMatchObject({ kind: 'pushed', files: ['a.txt'] });
    expect(await barn.deliver(there)).toEqual(settled);
    // Another machine can see whether the work was pushed.
    const field = machine(lead, { host: 'field' });
    expect(await field.deliver(there)).toEqual(settled);
    lead.repo.git('--git-dir', lead.url, 'update-ref', '-d', 'refs/heads/agent/a_1');
    expect(await field.deliver(there)).toEqual({
      kind: 'kept',
      why: `It last ran on barn, which pushed none of it to ${lead.url}.`,
    });
  });

  test('is removed later, unless it has changes that were not pushed', async () => {
    const lead = scene();
    const barn = machine(lead);
    const base = await barn.workspace('s_1');
    const [kept, loose] = [await barn.move(undefined, 'a_1'), await barn.move(undefined, 'a_2')];
    put(kept, 'a.txt', 'two\n');
    await barn.deliver(kept, true);
    put(loose, 'a.txt', 'three\n');
    const home = { folder: barn.folder, excluded: [], environment: environment() };
    const ends = new Map<string, unknown>();
    for (const { path } of leftoverWorktrees(barn.folder)) {
      ends.set(path, await sweepWorktree(path, home, false));
    }
    expect(Object.fromEntries(ends)).toEqual({
      [base]: 'removed',
      [kept.place.path]: 'removed',
      [loose.place.path]: { kept: 'it has changes that are on no branch' },
    });
  });

  test('is kept, with a reason, if another process has pushed to its branch', async () => {
    const lead = scene();
    const { move, deliver } = machine(lead);
    const cloned = await move();
    put(cloned, 'a.txt', 'mine\n');
    lead.repo.put('a.txt', 'theirs\n');
    lead.repo.git('commit', '-qam', 'theirs');
    lead.repo.git('push', '-q', lead.url, 'HEAD:refs/heads/agent/a_1');
    expect(await deliver(cloned)).toEqual({
      kind: 'kept',
      why: expect.stringMatching(/^it could not be pushed from barn\. git push of .* failed: /),
    });
    expect(at(cloned, 'a.txt')).toBe('mine\n');
    expect(pushed(lead, 'a.txt')).toBe('theirs');
  });

  test('is refused if the remote is missing or does not have the commit', async () => {
    const lead = scene();
    const gone = machine({ ...lead, url: join(lead.repo.folder, 'nowhere.git') });
    expect(await refusal(gone.move())).toMatch(/nowhere\.git.*failed|does not have the commit/);
    lead.repo.put('a.txt', 'two\n');
    lead.repo.git('commit', '-qam', 'not pushed');
    const commit = lead.repo.git('rev-parse', 'HEAD');
    const { move, workspace } = machine({ ...lead, commit });
    for (const work of [move(), workspace('s_1')]) {
      expect(await refusal(work)).toContain(`does not have the commit ${commit}: push it there.`);
    }
  });

  test('is created once per session as a workspace', async () => {
    const lead = scene();
    const barn = machine(lead);
    const path = await barn.workspace('s_1');
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('one\n');
    rmSync(lead.url, { recursive: true });
    expect(await barn.workspace('s_1')).toBe(path);
  });

  test('does not follow a link out of its folder', async () => {
    const lead = scene();
    const outside = temporaryFolder();
    rmSync(join(lead.repo.path, 'a.txt'));
    execFileSync('ln', ['-s', outside, join(lead.repo.path, 'deep')]);
    lead.repo.git('add', '-A');
    const commit = lead.repo.commit('a link');
    lead.repo.git('push', '-q', lead.url, 'main');
    const { move } = machine({ ...lead, commit }, { prefix: 'deep/down' });
    expect(await refusal(move())).toContain('is not a folder');
    expect(existsSync(join(outside, 'down'))).toBe(false);
  });
});

needs.describe('git')('a hostile remote on the same disk', () => {
  const HOOKS = ['pre-receive', 'update', 'post-receive', 'post-update', 'reference-transaction'];

  test('runs no program: no hook, no filter, no submodule, no command of its config', async () => {
    const lead = scene({
      '.gitattributes': '*.txt filter=evil diff=evil merge=evil\n',
      '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ext::touch% MARKER\n',
      'a.txt': 'one\n',
    });
    const marker = join(lead.repo.folder, 'marker');
    const evil = script(join(lead.repo.folder, 'evil'), `touch '${marker}'`);
    for (const hook of HOOKS) script(join(lead.url, 'hooks', hook), `touch '${marker}'`);
    const section = `[core]\n\tfsmonitor = ${evil}\n\talternateRefsCommand = ${evil}\n\tsshCommand = ${evil}\n[filter "evil"]\n\tclean = ${evil}\n\tsmudge = ${evil}\n[uploadpack]\n\tpackObjectsHook = ${evil}\n[gc]\n\trecentObjectsHook = ${evil}\n\tauto = 1\n`;
    appendFileSync(join(lead.url, 'config'), section);
    const alternate = join(lead.repo.path, '.git/objects');
    writeFileSync(join(lead.url, 'objects/info/alternates'), `${alternate}\n`);
    const { move, deliver, folder, workspace } = machine(lead);
    await workspace('s_1');
    const cloned = await move();
    // The files that an agent may have left in the clone have no effect either.
    appendFileSync(join(clonePath(folder, lead.url), 'config'), section);
    script(join(clonePath(folder, lead.url), 'hooks/pre-push'), `touch '${marker}'`);
    put(cloned, 'a.txt', 'two\n');
    expect(await deliver(cloned)).toMatchObject({ kind: 'pushed' });
    expect(existsSync(marker)).toBe(false);
    // Checks the trap: plain git runs the program.
    lead.repo.git('push', '-q', lead.url, 'main:refs/heads/careless');
    expect(existsSync(marker)).toBe(true);
  });

  test.each(['ext::touch marker', 'fd::3'])('is refused as %s', async (url) => {
    const lead = scene();
    const { move } = machine({ ...lead, url });
    expect(await refusal(move())).toMatch(/not allowed|failed/);
    expect(existsSync(join(process.cwd(), 'marker'))).toBe(false);
  });
});
