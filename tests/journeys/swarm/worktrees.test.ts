/** Agents with their own worktrees, with real git and real processes. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, type Line, type Rules, type Scene, setScene } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const AGENTS = JSON.stringify({
  worker: {
    description: 'Works',
    prompt: 'You work.',
    tools: 'Read, Edit, Write, Bash',
    isolation: 'worktree',
  },
});
const ARGS = ['--agents', AGENTS, '--permission-mode', 'acceptEdits', '--output-format', 'json'];
const task = (prompt: string) => ({
  name: 'Task',
  input: { description: prompt, prompt, subagent_type: 'worker' },
});
const edit = (from: string, to: string) =>
  calls('Edit', { file_path: 'a.txt', old_string: from, new_string: to });

interface GitScene extends Scene {
  git(...args: string[]): string;
  text(name: string): Promise<string>;
  /** The last message that the lead received, without escapes. */
  lastLeadMessage(): string;
  /** Worktree folders of the agents of a session. */
  folders(session: string): Promise<readonly string[]>;
}

const setGitScene = async (rules: Rules): Promise<GitScene> => {
  const scene = await setScene(rules);
  const { workspace, skeinHome } = scene;
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: workspace, encoding: 'utf8', stdio: 'pipe' }).trim();
  git('init', '-q', '-b', 'main');
  await writeFile(join(workspace, 'a.txt'), 'first\nmiddle\nlast\n');
  git('add', '.');
  git('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'first');
  await writeFile(join(workspace, 'dirty.txt'), 'not committed\n');
  return {
    ...scene,
    git,
    text: (name) => readFile(join(workspace, name), 'utf8'),
    lastLeadMessage: () => {
      const lead = scene.bodies().findLast(({ messages }) => isLead(messages[0]));
      return JSON.stringify(lead?.messages.at(-1)).replaceAll('\\"', '"');
    },
    folders: (session) => readdir(join(skeinHome, 'worktrees', session)).catch(() => []),
  };
};

const isLead = (message: Line | undefined) => JSON.stringify(message).includes('the lead');

/** The third job exceeds the limit of two agents. */
const JOBS = ['job one', 'job two', 'job three'];

const LEAD = { firstUser: 'the lead' };

needs.describe('git')('an agent with a worktree', () => {
  test('is merged, and a second agent that edits the same line is reported as a conflict and kept', async () => {
    const work = (name: string): Rules => [
      {
        match: { firstUser: `job ${name}`, turn: 0 },
        reply: calls('Read', { file_path: 'a.txt' }),
      },
      { match: { firstUser: `job ${name}`, turn: 1 }, reply: edit('middle', `by ${name}`) },
      { match: { firstUser: `job ${name}` }, reply: `${name} is done.` },
    ];
    const scene = await setGitScene([
      { match: { ...LEAD, turn: 0 }, reply: { tool_use: JOBS.map(task) } },
      { match: LEAD, reply: 'I have heard both.' },
      ...work('one'),
      ...work('two'),
    ]);
    const { git, text, lastLeadMessage, folders, workspace } = scene;
    const before = git('status', '--porcelain');
    const { code, result } = await scene.run(['-p', 'the lead', '--session-id', 's', ...ARGS], {
      env: { SKEIN_MAX_AGENTS: '2' },
    });
    expect([code, result.result]).toEqual([0, 'I have heard both.']);
    const explained = await scene.run(['explain', 's', '--json']);
    const listed = (JSON.parse(explained.stdout) as { calls: Line[] }).calls;
    expect(listed.map(({ tool }) => String(tool)).sort()).toEqual([
      'Edit',
      'Edit',
      'Read',
      'Read',
      'Task',
      'Task',
      'Task',
    ]);
    const winner = (await text('a.txt')).includes('by one') ? 'one' : 'two';
    const loser = winner === 'one' ? 'two' : 'one';
    expect(await text('a.txt')).toBe(`first\nby ${winner}\nlast\n`);
    expect(lastLeadMessage()).toContain(`Its work is merged into ${workspace} (1 file)`);
    expect(lastLeadMessage()).toContain(`Changed: ${join(workspace, 'a.txt')}`);
    expect(lastLeadMessage()).toContain(
      'Its work is NOT merged: a.txt: both sides have changed it.',
    );
    const [kept = '', ...others] = await folders('s');
    expect(others).toEqual([]);
    expect(lastLeadMessage()).toContain(`on the branch agent/${kept} and in `);
    expect(git('show', `agent/${kept}:a.txt`)).toContain(`by ${loser}`);
    expect(git('show', `agent/${kept}:dirty.txt`)).toBe('not committed');
    expect(git('branch', '--list', 'agent/*').split('\n')).toHaveLength(2);
    expect(git('status', '--porcelain')).toBe(`M a.txt\n${before}`);
    expect(git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('main');
    const diff = /Its diff is in (\S+?\.diff)\./.exec(lastLeadMessage())?.[1] ?? '';
    expect(await readFile(diff, 'utf8')).toContain('+++ b/a.txt');

    const undone = await scene.run(['rewind', 's', '--to', '1', '--yes']);
    expect(undone.code).toBe(0);
    expect(await text('a.txt')).toBe('first\nmiddle\nlast\n');
    const effects = undone.stdout.slice(undone.stdout.indexOf('Not undone:'));
    expect(JOBS.filter((job) => effects.includes(job))).toEqual(['job one', 'job two']);
    expect(undone.stdout).not.toContain('No files were saved');
  });

  test('resumes in its worktree after a kill, and is merged once', async () => {
    const scene = await setGitScene([
      { match: { ...LEAD, turn: 0 }, reply: { tool_use: [task('job')] } },
      { match: LEAD, reply: 'I have heard it.' },
      { match: { turn: 0 }, reply: calls('Read', { file_path: 'a.txt' }) },
      { match: { turn: 1 }, reply: edit('middle', 'by the agent') },
      { match: { turn: 2 }, replies: [{ text: 'I am', stall: { afterEvents: 1 } }, 'It is done.'] },
    ]);
    const { text, lastLeadMessage, folders, git } = scene;
    const process = scene.start(['-p', 'the lead', '--session-id', 's', ...ARGS]);
    process.endInput();
    await eventually('the agent has edited', () => scene.bodies().length === 4);
    process.kill('SIGKILL');
    await process.ended;
    expect(await text('a.txt')).toBe('first\nmiddle\nlast\n');
    const [agent = ''] = await folders('s');
    // The parent tree has changed in the meantime.
    await writeFile(join(scene.workspace, 'a.txt'), 'first\nmiddle\nlast\nand one more\n');
    const { code, result } = await scene.run(['-p', '--resume', 's', ...ARGS]);
    expect([code, result.result]).toEqual([0, 'I have heard it.']);
    expect(await text('a.txt')).toBe('first\nby the agent\nlast\nand one more\n');
    expect(lastLeadMessage()).toContain('Its work is merged into');
    expect(await folders('s')).toEqual([]);
    expect(git('branch', '--list', 'agent/*')).toBe(`agent/${agent}`);
  });

  test('cannot write outside of its worktree', async () => {
    const scene = await setGitScene([
      { match: { ...LEAD, turn: 0 }, reply: { tool_use: [task('job')] } },
      { match: LEAD, reply: 'I have heard it.' },
      {
        match: { turn: 0 },
        reply: {
          tool_use: [
            { name: 'Write', input: { file_path: '/tmp/outside.txt', content: 'x' } },
            { name: 'Bash', input: { command: 'pwd' } },
            { name: 'Write', input: { file_path: 'new.txt', content: 'inside\n' } },
          ],
        },
      },
      { reply: 'I tried.' },
    ]);
    const { code } = await scene.run(['-p', 'the lead', '--session-id', 's', ...ARGS]);
    expect(code).toBe(0);
    const [results = ''] = scene
      .bodies()
      .filter(({ messages }) => !isLead(messages[0]) && messages.length === 3)
      .map(({ messages }) => JSON.stringify(messages.at(-1)));
    expect(results).toMatch(
      /outside\.txt is outside of this agent's worktree: .* only in \S+worktrees\/s/,
    );
    expect(results).toMatch(/worktrees\/s\/a_\w+/);
    expect(await scene.text('new.txt')).toBe('inside\n');
    expect(existsSync('/tmp/outside.txt')).toBe(false);
  });
});

needs.describe('git', 'bwrap')('an agent with a worktree in a sandbox', () => {
  test('runs commands that can write only to the worktree and can read the repository', async () => {
    const command = 'echo made > made.txt; git log --oneline; ./probe.sh';
    const scene = await setGitScene([
      { match: { ...LEAD, turn: 0 }, reply: { tool_use: [task('job')] } },
      { match: LEAD, reply: 'I have heard it.' },
      { match: { turn: 0 }, reply: calls('Bash', { command }) },
      { reply: 'I ran it.' },
    ]);
    const probe =
      '#!/bin/sh\necho out > "$(dirname "$(git rev-parse --git-common-dir)")/out.txt"\n';
    await writeFile(join(scene.workspace, 'probe.sh'), probe, { mode: 0o755 });
    const { code, stderr } = await scene.run(
      ['-p', 'the lead', ...ARGS, '--permission-mode', 'bypassPermissions'],
      { env: { SKEIN_SANDBOX: 'required', IS_SANDBOX: '1' } },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const results = JSON.stringify(scene.bodies().at(-2)?.messages.at(-1));
    expect(results).toContain('first');
    expect(results).toMatch(/out\.txt: (Read-only file system|Permission denied)/);
    expect(await scene.text('made.txt')).toBe('made\n');
    expect(existsSync(join(scene.workspace, 'out.txt'))).toBe(false);
  }, 30_000);
});

test('a worktree outside of a git repository is refused with a hint', async () => {
  const scene = await setScene([
    { match: { ...LEAD, turn: 0 }, reply: { tool_use: [task('job')] } },
    { match: LEAD, reply: 'So be it.' },
  ]);
  const { code, result } = await scene.run(['-p', 'the lead', ...ARGS]);
  expect([code, result.result]).toEqual([0, 'So be it.']);
  expect(JSON.stringify(scene.bodies().at(-1))).toMatch(
    /need the working tree of a git repository, .* Leave out isolation to work without one/,
  );
});
