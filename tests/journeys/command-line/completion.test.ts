import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { calls, setScene } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

/** A scene with `ask`, which returns the completions of a real shell that sourced the printed script. */
const setShellScene = async () => {
  const scene = await setScene();
  const bin = join(scene.root, 'bin');
  await mkdir(bin);
  const program = resolve(process.env.SKEIN_TEST_DIST ?? 'dist', 'skein.cjs');
  await symlink(program, join(bin, 'skein'));
  await mkdir(join(scene.workspace, 'folder'));
  await writeFile(join(scene.workspace, 'file.json'), '{}');
  const { home, skeinHome, workspace } = scene;
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    SKEIN_HOME: skeinHome,
    LANG: 'C.UTF-8',
  };
  const ask = async (shell: string, code: (script: string) => string, words: readonly string[]) => {
    const script = join(scene.root, `completion.${shell}`);
    await writeFile(script, (await scene.run(['completion', shell])).stdout);
    const args = shell === 'fish' ? ['--no-config'] : [];
    // The time-out makes a shell that hangs fail with its name.
    const options = { cwd: workspace, env, timeout: 30_000 };
    const { stdout, stderr } = await promisify(execFile)(
      shell,
      [...args, '-c', code(script), shell === 'fish' ? '--' : 'skein', ...words],
      options,
    );
    expect(stderr).toBe('');
    return stdout.split('\n').filter(Boolean);
  };
  return { ...scene, ask };
};

const BASH = (script: string) =>
  `source ${script}; COMP_WORDS=("$0" "$@"); COMP_CWORD=$#; _skein; printf '%s\\n' "\${COMPREPLY[@]}"`;
// Stubs of the zsh functions print the completions; `_skein` itself is unchanged.
const ZSH = (script: string) =>
  `compdef() { }; compadd() { print -rl -- $values; }; _files() { print -r -- "files $*"; }; source ${script}; words=("$0" "$@"); CURRENT=$#words; _skein || true`;
const FISH = (script: string) => `source ${script}; complete -C "skein $argv"`;

const CASES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['a command', ['docto'], ['doctor']],
  ['a sub-command', ['sessions', 'p'], ['prune']],
  ['a flag', ['--perm'], ['--permission-mode']],
  ['a flag of a command', ['logs', '--fo'], ['--follow']],
  ['a mode', ['--permission-mode', 'acc'], ['acceptEdits']],
  ['a format', ['-p', 'x', '--output-format', 'stream'], ['stream-json']],
  ['a model', ['--model', 'opu'], ['opus']],
  ['a shell', ['completion', 'f'], ['fish']],
  ['a command after help', ['help', 'trus'], ['trust']],
  ['no value for free text', ['sessions', '--search', 'wor'], []],
];

describe('completion in bash', () => {
  test.each(CASES)('offers %s', async (_, words, expected) => {
    const { ask } = await setShellScene();
    expect(await ask('bash', BASH, words)).toEqual(expected);
  });

  test('offers values after an equals sign, files, directories, agents and sessions', async () => {
    const { ask, run, workspace } = await setShellScene();
    expect(await ask('bash', BASH, ['--effort', '=', 'xh'])).toEqual(['xhigh']);
    expect(await ask('bash', BASH, ['--effort', '='])).toHaveLength(5);
    expect(await ask('bash', BASH, ['--settings', 'fi'])).toEqual(['file.json']);
    expect(await ask('bash', BASH, ['--cwd', 'f'])).toEqual(['folder']);
    await mkdir(join(workspace, '.claude/agents'), { recursive: true });
    const agent = '---\nname: reviewer\ndescription: Reviews\n---\nReview.\n';
    await writeFile(join(workspace, '.claude/agents/r.md'), agent);
    expect(await ask('bash', BASH, ['--agent', 'rev'])).toEqual(['reviewer']);
    const { result } = await run(['-p', 'x', '--output-format', 'json']);
    expect(await ask('bash', BASH, ['cost', 's_'])).toEqual([result.session_id]);
    expect(await ask('bash', BASH, ['--resume', ''])).toEqual([result.session_id]);
  });

  test('offers the agents of the workspace together with the built-in agents', async () => {
    const { ask, workspace } = await setShellScene();
    const folder = join(workspace, '.claude', 'agents');
    await mkdir(folder, { recursive: true });
    const text = '---\nname: scout\ndescription: Looks around.\n---\nFind the way.\n';
    await writeFile(join(folder, 'scout.md'), text);
    expect(await ask('bash', BASH, ['prompt', '--agent', ''])).toEqual([
      'explorer',
      'implementer',
      'planner',
      'reviewer',
      'scout',
      'tester',
    ]);
  });

  test('offers running agents and open questions', async () => {
    const { start, run } = await setScene([
      {
        match: { turn: 0, firstUser: 'begin' },
        reply: calls('Task', {
          description: 'a look',
          prompt: 'look',
          subagent_type: 'tester',
          name: 'looker',
        }),
      },
      { match: { turn: 0 }, reply: calls('Bash', { command: 'touch it' }) },
    ]);
    const lead = start(['-p', 'begin', '--ask']);
    lead.endInput();
    const offered = async (...words: string[]) => {
      const { stdout } = await run(['__complete', ...words, '']);
      return stdout.split('\n').filter(Boolean);
    };
    await eventually('the question is open', () => lead.stderr.includes('skein approve'));
    expect((await offered('deny'))[0]).toMatch(/^q_\w+\tBash touch it$/);
    expect(await offered('stop')).toEqual([
      expect.stringMatching(/^a_\w+\tlead of s_/),
      'looker\ttester: a look (awaiting-permission)',
    ]);
    expect(await offered('resume')).toHaveLength(3);
  });

  test('offers every command as the first word, except hidden commands', async () => {
    const { ask } = await setShellScene();
    const offered = await ask('bash', BASH, ['']);
    expect(offered).toEqual(expect.arrayContaining(['demo', 'sessions', 'completion', 'help']));
    expect(offered).not.toContain('__complete');
  });

  test('has installation instructions in the first lines of each script', async () => {
    const { run } = await setScene();
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout } = await run(['completion', shell]);
      expect(stdout.split('\n').slice(0, 3).join('\n')).toContain(`skein completion ${shell}`);
    }
  });
});

needs.describe('zsh')('completion in zsh', () => {
  test.each(CASES)('offers %s', async (_, words, expected) => {
    const { ask } = await setShellScene();
    expect(await ask('zsh', ZSH, words)).toEqual(expected);
  });

  test('leaves file names to the shell', async () => {
    const { ask } = await setShellScene();
    expect(await ask('zsh', ZSH, ['--settings', 'fi'])).toEqual(['files ']);
    expect(await ask('zsh', ZSH, ['--cwd', 'f'])).toEqual(['files -/']);
  });
});

needs.describe('fish')('completion in fish', () => {
  test.each(CASES)('offers %s', async (_, words, expected) => {
    const { ask } = await setShellScene();
    const offered = await ask('fish', FISH, words);
    expect(offered.map((line) => line.split('\t')[0])).toEqual(expected);
  });

  test('offers directories for a flag that takes a directory', async () => {
    const { ask } = await setShellScene();
    expect((await ask('fish', FISH, ['--cwd', 'f']))[0]).toMatch(/^folder\//);
  });
});
