import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Line, setScene } from '../../fakes/skein-process.js';

/** A scene, what `skein agents` says there, and files of its workspace. */
const sceneOfAgents = async () => {
  const scene = await setScene();
  const list = (...args: string[]) => scene.run(['agents', ...args]);
  const json = async (...args: string[]) =>
    JSON.parse((await list('--json', ...args)).stdout) as Line;
  const put = async (name: string, text: string) => {
    const file = join(scene.workspace, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    return file;
  };
  return { ...scene, list, json, put };
};

const TYPED = JSON.stringify({
  looker: { description: 'Looks', prompt: 'You only look.', tools: 'Read' },
});

describe('skein agents', () => {
  test('lists those that the package brings, as their files have them', async () => {
    const { json } = await sceneOfAgents();
    const { agents, unusable, warnings } = await json();
    expect(agents.map(({ name }: Line) => name)).toEqual([
      'explorer',
      'implementer',
      'planner',
      'reviewer',
      'tester',
    ]);
    expect([unusable, warnings]).toEqual([[], []]);
    for (const { path, source, prompt, name } of agents as Line[]) {
      expect([source, path]).toEqual(['builtin', resolve('agents', `${name}.md`)]);
      expect(await readFile(path as string, 'utf8')).toContain(prompt);
    }
  });

  test('lists files, the command and what is wrong', async () => {
    const { list, put } = await sceneOfAgents();
    const good = await put('.claude/agents/good.md', '---\nname: good\ndescription: b\n---\nc');
    const bad = await put('.skein/agents/reviewer.md', '---\nname: reviewer\ntools: 7\n---\nc');
    const { code, stdout, stderr } = await list('--trust', '--agents', TYPED);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^looker +command · model of the lead · Read$/m);
    expect(stdout).toContain(`  b\n  ${good}\n`);
    expect(stdout).toMatch(/^explorer +builtin /m);
    expect(stdout).not.toMatch(/^reviewer +builtin /m);
    expect(stdout).toContain(`Not used:\n  ${bad} does not describe an agent, at line 3: tools: `);
  });
});

describe('a run with agents of the command', () => {
  test('can be one of them', async () => {
    const { run, bodies } = await sceneOfAgents();
    const { code } = await run(['-p', 'Look.', '--agents', TYPED, '--agent', 'looker']);
    expect(code).toBe(0);
    const [body] = bodies() as [Line];
    expect(body.tools.map(({ name }: Line) => name)).toEqual(['Read']);
    expect(JSON.stringify(body.system)).toContain('You only look.');
  });

  test.each([
    ['{', '--agents is not valid JSON'],
    ['{"a":{"description":"x","prompt":"y","maxTurns":-1}}', 'entry "a", cannot be used: maxTurns'],
  ])('does not begin with %s', async (text, sentence) => {
    const { run, bodies } = await sceneOfAgents();
    const { code, stdout, stderr } = await run(['-p', 'Look.', '--agents', text]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(sentence);
    expect(bodies()).toEqual([]);
  });
});
