/**
 * Law 7 for worktrees: after a crash while an agent gets a worktree, works or merges, the work is
 * in the parent's tree once, and no files are left behind.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needs } from '../../setup/needs.js';
import {
  countedRun,
  failuresAt,
  killPoints,
  killThenResume,
  someOf,
  whenAt,
} from '../killed-run.js';
import { openPrintScene, type PrintScene } from '../workspace.js';

const AGENTS = JSON.stringify({
  worker: { description: 'Works.', prompt: 'You work.', tools: 'Write', isolation: 'worktree' },
});
const FLAGS = ['--output-format', 'json', '--permission-mode', 'acceptEdits', '--agents', AGENTS];
const write = (name: string, content: string) => ({
  name: 'Write',
  input: { file_path: name, content },
});
const writes = [write('b.txt', 'by the agent\n'), write('deep/c.txt', 'and this\n')];
const task = { description: 'x', prompt: 'the part', subagent_type: 'worker' };

const script = {
  rules: [
    {
      match: { firstUser: 'the part', turn: 0 },
      reply: { tool_use: writes },
    },
    // A call that was started and not ended is reported as interrupted: the agent repeats it.
    {
      match: { firstUser: 'the part', toolResult: 'Skein was stopped while' },
      reply: { tool_use: writes },
    },
    { match: { firstUser: 'the part' }, reply: 'PART-REPORT.' },
    { match: { turn: 0 }, reply: { tool_use: [{ name: 'Task', input: task }] } },
    { reply: 'All done.' },
  ],
};

const sceneWithGit = async (): Promise<PrintScene> => {
  const scene = await openPrintScene(script, { 'a.txt': 'one\n' });
  git(scene, 'init', '-q', '-b', 'main');
  git(scene, 'add', '.');
  git(scene, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'first');
  return scene;
};

const git = ({ workspace }: PrintScene, ...args: string[]): string =>
  execFileSync('git', args, { cwd: workspace, encoding: 'utf8', stdio: 'pipe' }).trim();

/** Faults of a run that has ended. Empty if the law holds. */
const faultsOf = (scene: PrintScene): string[] => {
  const faults: string[] = [];
  const read = (name: string) => {
    const path = join(scene.workspace, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : '(missing)';
  };
  if (read('b.txt') !== 'by the agent\n') faults.push(`b.txt is ${read('b.txt')}`);
  if (read('deep/c.txt') !== 'and this\n') faults.push(`deep/c.txt is ${read('deep/c.txt')}`);
  const lastRequest = scene.bodies().at(-1)?.toString() ?? '';
  if (!lastRequest.includes('Its work is merged into')) faults.push('the lead received no merge');
  const left = readdirSync(join(scene.home, '.skein/worktrees'));
  if (left.length > 0) faults.push(`left behind: ${left.join()}`);
  const trees = git(scene, 'worktree', 'list').split('\n').length;
  if (trees !== 1) faults.push(`${trees} worktrees are registered`);
  if (git(scene, 'status', '--porcelain') !== '?? b.txt\n?? deep/') faults.push('git sees more');
  return faults;
};

const killAndResume = async (at: number) => {
  const scene = await sceneWithGit();
  try {
    const { killed, after } = await killThenResume(scene, at, FLAGS);
    const faults = faultsOf(scene);
    if (after.code !== 0) faults.push(`ended with ${after.code}: ${after.stderr}`);
    return { at, when: whenAt(at), killed, faults };
  } finally {
    await scene.close();
  }
};

needs.describe('git')('law 7, for agents in worktrees', () => {
  test('the work of an agent is merged once, even if its process is killed', async () => {
    const whole = await sceneWithGit();
    const { ended, writes: count } = await countedRun(whole, FLAGS);
    const faults = faultsOf(whole);
    await whole.close();
    expect({ code: ended.code, faults }).toEqual({ code: 0, faults: [] });
    // From the request for the agent to its report.
    const failures = await failuresAt(someOf(killPoints(8, count - 4), 2), 2, killAndResume);
    expect(failures).toEqual([]);
  }, 300_000);
});
