import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leftoverWorktrees, sweepWorktree } from '../../../src/host/worktrees/sweep-worktree.js';
import { needs } from '../../setup/needs.js';
import { environment } from '../git/repository.js';
import { type WorktreeRig, worktreeRig } from './worktree-rig.js';

const sweep = (rig: WorktreeRig, path: string, dryRun = false) => {
  const folder = join(rig.home, 'worktrees');
  return sweepWorktree(path, { folder, excluded: [], environment: environment() }, dryRun);
};

/** Agent whose work was not merged because of a conflict. */
const conflict = async (rig: WorktreeRig, agent: string) => {
  const place = await rig.open(agent);
  rig.change(place, { 'a.txt': `${agent}\n` });
  rig.repo.put('a.txt', 'ours\n');
  expect(await rig.settle(agent, place)).toMatchObject({ kind: 'conflict' });
  return place;
};

needs.describe('git')('a leftover worktree of an agent', () => {
  test('is listed with its session', async () => {
    const rig = worktreeRig();
    const place = await rig.open('a_1');
    expect(leftoverWorktrees(join(rig.home, 'worktrees'))).toEqual([
      { session: 's_1', path: place.path, changedAt: expect.any(Number) },
    ]);
    expect(leftoverWorktrees(join(rig.home, 'nowhere'))).toEqual([]);
  });

  test('is removed if it has no changes', async () => {
    const rig = worktreeRig();
    const { path } = await rig.open('a_1');
    expect(await sweep(rig, path, true)).toBe('removed');
    expect(existsSync(path)).toBe(true);
    expect(await sweep(rig, path)).toBe('removed');
    expect(existsSync(path)).toBe(false);
  });

  test('is kept while its work is only on its branch, and removed after a merge', async () => {
    const rig = worktreeRig();
    const { path, branch } = await conflict(rig, 'a_1');
    expect(await sweep(rig, path)).toEqual({ kept: 'its work is on the branch agent/a_1 only' });
    rig.repo.git('branch', 'taken', branch);
    expect(await sweep(rig, path)).toBe('removed');
    expect(rig.repo.git('rev-parse', branch)).toBe(rig.repo.git('rev-parse', 'taken'));
  });

  test('is kept if it has changes that are on no branch', async () => {
    const rig = worktreeRig();
    const place = await conflict(rig, 'a_1');
    rig.repo.git('branch', 'taken', place.branch);
    rig.change(place, { 'more.txt': 'more\n' });
    expect(await sweep(rig, place.path)).toEqual({ kept: 'it has changes that are on no branch' });
  });

  test('is kept if Skein did not create it', async () => {
    const rig = worktreeRig();
    const path = join(rig.home, 'worktrees/s_1/mine');
    rig.repo.git('worktree', 'add', '-q', path);
    expect(await sweep(rig, path)).toEqual({ kept: 'it is not a worktree of an agent' });
    expect(existsSync(path)).toBe(true);
  });
});
