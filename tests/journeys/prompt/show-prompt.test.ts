import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Line, setScene } from '../../fakes/skein-process.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { needs } from '../../setup/needs.js';

/** A scene without an API key, with `skein prompt` as text and as JSON. */
const setPromptScene = async () => {
  const scene = await setScene();
  const env = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };
  const show = (...args: string[]) => scene.run(['prompt', ...args], { env });
  const json = async (...args: string[]): Promise<Line> => {
    const { code, stdout, stderr } = await show(...args, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as Line;
  };
  /** Writes a file of the workspace. */
  const put = async (name: string, text: string) => {
    await mkdir(join(scene.workspace, name, '..'), { recursive: true });
    await writeFile(join(scene.workspace, name), text);
  };
  return { ...scene, show, json, put };
};

describe('skein prompt', () => {
  test('prints exactly the prompt that a run sends', async () => {
    const { json, run, bodies } = await setPromptScene();
    const report = await json('-p', '--append-system-prompt', 'Mind the café.');
    await run(['-p', 'hello', '--append-system-prompt', 'Mind the café.']);
    const [body] = bodies() as [Line];
    expect(report.system.map(({ text }: Line) => text)).toEqual(
      body.system.map(({ text }: Line) => text),
    );
    expect(report.system.map(({ mark }: Line) => mark !== null)).toEqual(
      body.system.map((block: Line) => block.cache_control !== undefined),
    );
    expect(report.tools.map(({ text }: Line) => JSON.parse(text as string) as unknown)).toEqual(
      body.tools.map(({ cache_control: _mark, ...tool }: Line) => tool),
    );
    expect(report.opening.text).toBe(body.messages[0].content[0].text);
    expect(report.model).toBe(body.model);
  });

  test('prints the same digests as the journal of a run', async () => {
    const { json, run, journal } = await setPromptScene();
    const report = await json('-p');
    await run(['-p', 'hello']);
    const shaped = (await journal()).find(({ type }) => type === 'request.shaped') as Line;
    expect(shaped.shape['tool Read']).toBe(report.tools[0].digest);
    for (const { sections, block, digest } of report.system as Line[]) {
      expect(shaped.shape[`system block ${block}`]).toBe(digest);
      for (const section of sections) {
        expect(shaped.shape[`section ${section.name}`]).toBe(section.digest);
      }
    }
  });

  test('creates no session and no files', async () => {
    const { show, skeinHome, home, workspace } = await setPromptScene();
    expect(await show()).toMatchObject({ code: 0, stderr: '' });
    await expect(stat(skeinHome)).rejects.toThrow('ENOENT');
    expect(await readdir(home)).toEqual([]);
    expect(await readdir(workspace)).toEqual([]);
  });

  test('prints zone, source, size, breakpoint and digest of each block, and the size of each tool', async () => {
    const { show } = await setPromptScene();
    const { stdout } = await show();
    expect(stdout).toMatch(/^ {2}Read +\d+ tokens {2}[0-9a-f]{16}$/m);
    expect(stdout).toMatch(
      /^System block 3 of 4, static, [\d,]+ tokens, breakpoint 5m, [0-9a-f]{16}$/m,
    );
    expect(stdout).toMatch(/^- intro: static zone, from skein, \d+ tokens, [0-9a-f]{16}$/m);
    expect(stdout).toMatch(/^Cache breakpoints: after system block 3 /m);
    expect(stdout).toMatch(/^\| Today's date is \d{4}-\d\d-\d\d\.$/m);
  });

  test('prints the text of the tools with --verbose', async () => {
    const { show } = await setPromptScene();
    expect((await show('--verbose')).stdout).toMatch(/^\| \{"name":"Read",/m);
  });

  test('prints the prompt of the chosen agent and names its file', async () => {
    const { json, put } = await setPromptScene();
    const head = '---\nname: auditor\ndescription: Reviews.\ntools: Read, Grep\n---\n';
    await put('.claude/agents/auditor.md', `${head}Find what is wrong.`);
    const report = await json('--agent', 'auditor');
    expect(report.agent).toBe('auditor');
    expect(report.tools.map(({ name }: Line) => name)).toEqual(['Read', 'Grep']);
    const sections = (report.system as Line[]).flatMap((block) => block.sections as Line[]);
    expect(sections).toContainEqual(
      expect.objectContaining({
        name: 'agent auditor',
        source: 'agent',
        text: 'Find what is wrong.',
        path: expect.stringMatching(/\.claude\/agents\/auditor\.md$/),
      }),
    );
  });

  test('lists the instruction files of the workspace and whether each is sent', async () => {
    const { json, put } = await setPromptScene();
    await put('AGENTS.md', 'Be kind.\n\n@docs/more.md\n');
    await put('docs/more.md', 'Be brief.\n');
    await put('.claude/rules/code.md', '---\npaths: ["src/*.ts"]\n---\nUse tabs.\n');
    const { opening } = await json();
    const shown = (opening.files as Line[]).map(({ path, parent, fate, paths }) => {
      const name = (whole: string | null) => whole?.replace(/^.*\/workspace\//, '');
      return { path: name(path as string), parent: name(parent as string), fate, paths };
    });
    expect(shown).toEqual([
      { path: 'AGENTS.md', fate: 'told' },
      { path: 'docs/more.md', parent: 'AGENTS.md', fate: 'told' },
      { path: '.claude/rules/code.md', fate: 'waits', paths: ['src/*.ts'] },
    ]);
    expect(opening.text).toContain('Be brief.');
    expect(opening.text).not.toContain('Use tabs.');
  });

  test('fails with a single error line for an unknown agent', async () => {
    const { show } = await setPromptScene();
    const { code, stdout, stderr } = await show('--agent', 'nobody');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^skein: There is no agent "nobody"[^\n]*\n$/);
  });

  test('escapes control characters and prefixes prompt text, so that it cannot look like a heading', async () => {
    const { show } = await setPromptScene();
    const { stdout } = await show('--append-system-prompt', '\u001B[2J\nSystem block 9 of 9');
    expect(stdout).not.toContain('\u001B');
    expect(stdout).toContain('| ^[[2J\n| System block 9 of 9\n');
  });
});

describe('skein context in a directory without a session', () => {
  test('shows the context that a new session would start with', async () => {
    const { run, skeinHome } = await setPromptScene();
    const env = { ANTHROPIC_API_KEY: undefined };
    const { code, stdout, stderr } = await run(['context'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('This directory has no session yet.\n');
    expect(stdout).toContain('A new session here would start with about');
    await expect(stat(skeinHome)).rejects.toThrow('ENOENT');
  });
});

needs.describe('tmux')('the context on a terminal', () => {
  test.each([60, 160])('is shown as a chart that fits %i columns', async (columns) => {
    const scene = await setScene();
    await scene.run(['-p', 'hello']);
    const screen = openScreen(scene, ['context'], { columns });
    expect(await screen.ended()).toBe(0);
    const lines = screen.text().split('\n');
    expect(lines.find((line) => line.includes('░ tool results'))).toBeDefined();
    const bar = lines.find((line) => /^ █+▓+.*·+$/.test(line)) ?? '';
    expect(bar.length).toBe(Math.min(columns, 120) - 1);
  });

  test('is shown by /context, and the cost by /cost, in an interactive session', async () => {
    const screen = openScreen(await setScene(), ['--plain']);
    await screen.shows('Type what to do');
    screen.say('/context');
    await screen.shows('A new session here would start with');
    screen.say('hello');
    await screen.shows(/Done\.\n\n>$/);
    screen.say('/context');
    await screen.shows('counted by the server with the last answer');
    screen.say('/cost');
    await screen.shows('of input read from the cache');
  });
});
