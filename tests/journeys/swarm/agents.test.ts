import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Line, setScene } from '../../fakes/skein-process.js';

/** A scene with `skein agents` as text and as JSON, and a writer for workspace files. */
const setAgentsScene = async () => {
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

const AGENTS_FLAG = JSON.stringify({
  looker: { description: 'Looks', prompt: 'You only look.', tools: 'Read' },
});

describe('skein agents', () => {
  test('lists the built-in agents with their files and prompts', async () => {
    const { json } = await setAgentsScene();
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

  test('lists agents of files and of --agents, and unusable files with the reason', async () => {
    const { list, put } = await setAgentsScene();
    const good = await put('.claude/agents/good.md', '---\nname: good\ndescription: b\n---\nc');
    const bad = await put('.skein/agents/reviewer.md', '---\nname: reviewer\ntools: 7\n---\nc');
    const { code, stdout, stderr } = await list('--trust', '--agents', AGENTS_FLAG);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^looker +command · model of the lead · Read$/m);
    expect(stdout).toContain(`  b\n  ${good}\n`);
    expect(stdout).toMatch(/^explorer +builtin /m);
    expect(stdout).not.toMatch(/^reviewer +builtin /m);
    expect(stdout).toContain(`Not used:\n  ${bad} does not describe an agent, at line 3: tools: `);
  });
});

describe('a run with --agents', () => {
  test('can use an agent of the flag as its lead', async () => {
    const { run, bodies } = await setAgentsScene();
    const { code } = await run(['-p', 'Look.', '--agents', AGENTS_FLAG, '--agent', 'looker']);
    expect(code).toBe(0);
    const [body] = bodies() as [Line];
    expect(body.tools.map(({ name }: Line) => name)).toEqual(['Read']);
    expect(JSON.stringify(body.system)).toContain('You only look.');
  });

  test.each([
    ['{', '--agents is not valid JSON'],
    ['{"a":{"description":"x","prompt":"y","maxTurns":-1}}', 'entry "a", cannot be used: maxTurns'],
  ])('is refused with the value %s', async (text, sentence) => {
    const { run, bodies } = await setAgentsScene();
    const { code, stdout, stderr } = await run(['-p', 'Look.', '--agents', text]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(sentence);
    expect(bodies()).toEqual([]);
  });
});
