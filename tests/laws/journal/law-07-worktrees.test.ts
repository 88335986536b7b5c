/**
 * Law 7 for worktrees: whatever dies while an agent gets one, works in it or brings its work home, the work
 * is in the tree of its parent once, and nothing is left behind.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needs } from '../../setup/needs.js';
import { countedRun, killPoints, killThenResume, whenAt, wrongAt } from '../killed-run.js';
import { makePlace, type Place } from '../workspace.js';

const AGENTS = JSON.stringify({
  worker: { description: 'Works.', prompt: 'You work.', tools: 'Write', isolation: 'worktree' },
});
const FLAGS = ['--output-format', 'json', '--permission-mode', 'acceptEdits', '--agents', AGENTS];
const write = (name: string, content: string) => ({
  name: 'Write',
  input: { file_path: name, content },
});
const task = { description: 'x', prompt: 'the part', subagent_type: 'worker' };

const script = {
  rules: [
    {
      match: { firstUser: 'the part', turn: 0 },
      reply: { tool_use: [write('b.txt', 'by the agent\n'), write('deep/c.txt', 'and this\n')] },
    },
    { match: { firstUser: 'the part' }, reply: 'PART-REPORT.' },
    { match: { turn: 0 }, reply: { tool_use: [{ name: 'Task', input: task }] } },
    { reply: 'All done.' },
  ],
};

const placeWithGit = async (): Promise<Place> => {
  const place = await makePlace(script, { 'a.txt': 'one\n' });
  git(place, 'init', '-q', '-b', 'main');
  git(place, 'add', '.');
  git(place, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'first');
  return place;
};

const git = ({ workspace }: Place, ...args: string[]): string =>
  execFileSync('git', args, { cwd: workspace, encoding: 'utf8', stdio: 'pipe' }).trim();

/** What is wrong with a run that has ended, in words; empty when nothing is. */
const faultsOf = (place: Place): string[] => {
  const faults: string[] = [];
  const read = (name: string) => {
    const path = join(place.workspace, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : '(nothing)';
  };
  if (read('b.txt') !== 'by the agent\n') faults.push(`b.txt is ${read('b.txt')}`);
  if (read('deep/c.txt') !== 'and this\n') faults.push(`deep/c.txt is ${read('deep/c.txt')}`);
  const told = place.bodies().at(-1)?.toString() ?? '';
  if (!told.includes('Its work is merged into')) faults.push('the lead heard of no merge');
  const left = readdirSync(join(place.home, '.skein/worktrees'));
  if (left.length > 0) faults.push(`left behind: ${left.join()}`);
  const trees = git(place, 'worktree', 'list').split('\n').length;
  if (trees !== 1) faults.push(`${trees} worktrees are registered`);
  if (git(place, 'status', '--porcelain') !== '?? b.txt\n?? deep/') faults.push('git sees more');
  return faults;
};

const killAndResume = async (at: number) => {
  const place = await placeWithGit();
  try {
    const { killed, after } = await killThenResume(place, at, FLAGS);
    const faults = faultsOf(place);
    if (after.code !== 0) faults.push(`ended with ${after.code}: ${after.stderr}`);
    return { at, when: whenAt(at), killed, faults };
  } finally {
    await place.close();
  }
};

needs.describe('git')('law 7, for agents in worktrees', () => {
  test('wherever a process dies, the work comes home once', async () => {
    const whole = await placeWithGit();
    const { ended, writes } = await countedRun(whole, FLAGS);
    const faults = faultsOf(whole);
    await whole.close();
    expect({ code: ended.code, faults }).toEqual({ code: 0, faults: [] });
    // From where the agent is asked for to where its parent has heard of it.
    const wrong = await wrongAt(killPoints(8, writes - 4), 2, killAndResume);
    expect(wrong).toEqual([]);
  }, 300_000);
});
