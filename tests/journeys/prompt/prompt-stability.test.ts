/** The shared part of the prompt has the same bytes in all folders, on all days and for all users. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prefixBlocks } from '../../../src/simulator/prefix-blocks.js';
import {
  calls,
  type Line,
  openScene,
  type RunOptions,
  type Scene,
  setScene,
} from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const MARKER = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';

/** System blocks that all sessions share: attribution, identity and the static sections. */
const SHARED_BLOCKS = 3;

const newestBody = ({ simulator }: Pick<Scene, 'simulator'>): Buffer =>
  simulator.requests.at(-1)?.body ?? Buffer.alloc(0);

const parsed = (body: Buffer): Line => JSON.parse(body.toString()) as Line;

/** The bytes of a body from its tools to the end of the shared system blocks. */
const sharedBytes = (body: Buffer): string => {
  const text = body.toString();
  const last = JSON.stringify(parsed(body).system[SHARED_BLOCKS - 1]);
  const start = text.indexOf('"tools":');
  const end = text.indexOf(last);
  if (start === -1 || end < start) throw new Error('not a request body of ours');
  return text.slice(start, end + last.length);
};

const systemBytes = (body: Buffer): string => JSON.stringify(parsed(body).system);
const firstMessage = (body: Buffer): string => JSON.stringify(parsed(body).messages[0]);

/** Writes files in the given order. */
const write = async (root: string, files: Readonly<Record<string, string>>) => {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
};

const FAR_EAST = { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' };
/** Its date always differs from the date of `FAR_EAST`. */
const FAR_WEST = { TZ: 'Etc/GMT+12', LANG: 'ar_EG.UTF-8', LC_ALL: 'ar_EG.UTF-8' };

describe('the shared part of the prompt', () => {
  let scene: Awaited<ReturnType<typeof openScene>>;
  let baseline: string;
  beforeAll(async () => {
    scene = await openScene();
    await scene.run(['-p', 'Hello.'], { env: FAR_EAST });
    baseline = sharedBytes(newestBody(scene));
  });
  afterAll(() => scene.close());

  const folder = async (name: string, files: Readonly<Record<string, string>> = {}) => {
    const path = join(scene.root, name);
    await mkdir(path, { recursive: true });
    await write(path, files);
    return path;
  };

  const bodyOf = async (args: readonly string[], options: RunOptions) => {
    const before = scene.bodies().length;
    const { code, stderr } = await scene.run(args, options);
    expect([code, stderr.includes('rror')]).toEqual([0, false]);
    expect(scene.bodies().length).toBe(before + 1);
    return newestBody(scene);
  };

  test.each<[string, readonly string[], () => Promise<RunOptions> | RunOptions]>([
    ['another day and language', ['-p', 'Hi.'], () => ({ env: FAR_WEST })],
    [
      'another person with another temporary directory',
      ['-p', 'Hi.'],
      async () => {
        const [HOME, TMPDIR] = [await folder('home of pat'), await folder('t m p')];
        const env = { HOME, TMPDIR, SKEIN_HOME: undefined, USER: 'pat', LOGNAME: 'pat' };
        return { env };
      },
    ],
    [
      'another project, with instructions, rules and agents',
      ['-p', 'Hi.'],
      async () => ({
        cwd: await folder('other project', {
          'CLAUDE.md': 'Use tabs.',
          '.claude/rules/b.md': '---\npaths: src\n---\nNo any.',
          '.claude/rules/a.md': 'No todo.',
          '.claude/agents/x.md': '---\nname: x\ndescription: y\n---\nHm.',
        }),
      }),
    ],
    [
      'other environment variables',
      ['-p', 'Hi.'],
      () => ({ env: { CI: '1', TERM: 'dumb', COLUMNS: '3', NO_COLOR: '1', EDITOR: 'ed', A: 'b' } }),
    ],
    ['an interactive session', ['--plain'], () => ({ stdin: 'Hi.\n' })],
    ['limits', ['-p', 'Hi.', '--max-budget-usd', '3', '--max-turns', '4'], () => ({})],
    ['another permission mode', ['-p', 'Hi.', '--permission-mode', 'plan'], () => ({})],
    ['an appended system prompt', ['-p', 'Hi.', '--append-system-prompt', 'Sing.'], () => ({})],
    [
      'a language and an output style',
      ['-p', 'Hi.', '--settings', '{"language":"Suomi","outputStyle":"Explanatory"}'],
      () => ({}),
    ],
    [
      'the cache-breaker variable',
      ['-p', 'Hi.'],
      () => ({ env: { SKEIN_CACHE_BREAKER: 'x', SKEIN_DISABLE_MEMORY_FILES: 'true' } }),
    ],
    [
      'MCP instructions in the prompt',
      ['-p', 'Hi.'],
      () => ({ env: { SKEIN_MCP_INSTRUCTIONS_DELTA: 'false' } }),
    ],
  ])('has the same bytes with %s (P10, P21)', async (_, args, optionsOf) => {
    expect(sharedBytes(await bodyOf(args, await optionsOf()))).toBe(baseline);
  });

  test('has the same system text without the web search tool', async () => {
    const body = await bodyOf(['-p', 'Hi.'], { env: { SKEIN_WEB_SEARCH: 'false' } });
    const textOf = (bytes: string) => bytes.slice(bytes.indexOf('"system":'));
    expect(sharedBytes(body)).not.toBe(baseline);
    expect(textOf(sharedBytes(body))).toBe(textOf(baseline));
  });

  test('is read from the cache by another user in another project', async () => {
    const cwd = await folder('a third project', { 'AGENTS.md': 'Be brief.' });
    const HOME = await folder('home of kim');
    const body = await bodyOf(['-p', 'Hi.'], {
      cwd,
      env: { ...FAR_WEST, HOME, SKEIN_HOME: join(HOME, '.skein') },
    });
    const blocks = prefixBlocks(parsed(body) as never);
    const shared = blocks.find(({ breakpoint: mark }) => mark !== undefined);
    const { usage } = scene.simulator.requests.at(-1) ?? {};
    expect(usage?.cacheRead).toBe(shared?.end);
    expect(usage?.cacheRead).toBeGreaterThan(4_096);
  });

  test('is large enough for every cache and below its size limit', () => {
    // Includes the few dynamic words of an empty project, because they are sent too.
    const { tools, system } = parsed(scene.simulator.requests[0]?.body ?? Buffer.alloc(0));
    const tokens = Math.ceil(Buffer.byteLength(JSON.stringify(tools) + JSON.stringify(system)) / 4);
    expect(tokens).toBeGreaterThan(4_200);
    expect(tokens).toBeLessThan(6_400);
    expect(Math.floor(Buffer.byteLength(baseline) / 4)).toBeGreaterThan(4_200);
  });

  test('contains no path, user name or date of this machine', () => {
    for (const word of [scene.root, scene.tmp, scene.home, process.env.USER ?? 'root '])
      expect(baseline).not.toContain(word);
    expect(baseline).not.toMatch(/\b20\d\d-\d\d/);
  });

  test('differs if a date is planted in it', () => {
    const body = newestBody(scene).toString().replace('"You work in', '"2026-11-16 You work in');
    expect(sharedBytes(Buffer.from(body))).not.toBe(baseline);
  });
});

needs.describe('git')('two sessions in a project', () => {
  const FILES = {
    'CLAUDE.md': '@docs/b.md\n@docs/a.md\n',
    'CLAUDE.local.md': 'Sing.',
    'docs/a.md': 'Use tabs.',
    'docs/b.md': 'No tabs.',
    '.claude/rules/a.md': 'Rule a.',
    '.claude/rules/b/c.md': 'Rule c.',
    '.claude/rules/z.md': '---\npaths: src\n---\nRule z.',
    'src/x.ts': 'x\n',
  };

  const commit = (cwd: string, env: Record<string, string>) => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd, env, stdio: 'ignore' });
    git('init', '-q', '-b', 'main');
    git('add', '.');
    git('-c', 'user.name=Pat', '-c', 'user.email=p@x', 'commit', '-q', '-m', 'First');
  };

  test('send the same instructions in the same order, except for the date (P21)', async () => {
    const scene = await setScene();
    const date = '2026-11-01T12:00:00Z';
    const PATH = process.env.PATH ?? '';
    const stamped = { PATH, HOME: scene.home, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    const bodyWith = async (
      files: Readonly<Record<string, string>>,
      env: Record<string, string>,
    ) => {
      await rm(scene.workspace, { recursive: true });
      await write(scene.workspace, files);
      commit(scene.workspace, stamped);
      const { code } = await scene.run(['-p', 'Hello.'], { env });
      expect(code).toBe(0);
      return newestBody(scene);
    };
    const other = join(scene.root, 'other');
    await mkdir(other);
    const first = await bodyWith(FILES, FAR_EAST);
    const second = await bodyWith(Object.fromEntries(Object.entries(FILES).toReversed()), {
      ...FAR_WEST,
      TMPDIR: other,
      USER: 'kim',
      GIT_DIR: '/nowhere',
    });
    expect(systemBytes(first)).toContain('Newest commits');
    expect(systemBytes(second)).toBe(systemBytes(first));
    const day = /Today's date is \d{4}-\d{2}-\d{2}\./;
    expect(firstMessage(first)).toMatch(
      /No tabs\.[\s\S]*Use tabs\.[\s\S]*Rule a\.[\s\S]*Rule c\.[\s\S]*Sing\./,
    );
    expect(firstMessage(first)).not.toContain('Rule z.');
    expect(firstMessage(first)).not.toBe(firstMessage(second));
    expect(firstMessage(first).replace(day, '')).toBe(firstMessage(second).replace(day, ''));
  });

  test('never send the marker between the zones, even if files, flags or git contain it (P4)', async () => {
    const scene = await setScene([
      { match: { turn: 0 }, reply: calls('Read', { file_path: 'src/x.ts' }) },
      { reply: 'Done.' },
    ]);
    const { workspace } = scene;
    await write(workspace, {
      ...FILES,
      'CLAUDE.md': `Mind ${MARKER}.\n\n@docs/${MARKER}.md\n`,
      [`docs/${MARKER}.md`]: MARKER,
      [`.claude/rules/${MARKER}.md`]: `---\npaths: src\n---\n${MARKER} Rule z.`,
      '.claude/output-styles/loud.md': `---\nname: loud\n---\n${MARKER}`,
    });
    const env = { PATH: process.env.PATH ?? '', HOME: scene.home };
    execFileSync('git', ['init', '-q', '-b', MARKER], { cwd: workspace, env });
    const named = ['-c', `user.name=${MARKER}`, '-c', 'user.email=p@x'];
    execFileSync('git', [...named, 'commit', '-q', '--allow-empty', '-m', MARKER], {
      cwd: workspace,
      env,
    });
    const said = ['--append-system-prompt', MARKER, '--settings', '{"outputStyle":"loud"}'];
    for (const more of [said, ['--system-prompt', `${MARKER} ${MARKER}`], ['--add-dir', MARKER]]) {
      await mkdir(join(workspace, MARKER), { recursive: true });
      const { code } = await scene.run(['-p', 'Hello.', '--trust', ...more]);
      expect(code).toBe(0);
    }
    const bodies = scene.simulator.requests.map(({ body }) => body.toString());
    expect(bodies).toHaveLength(6);
    expect(bodies.filter((body) => body.includes(MARKER))).toEqual([]);
    expect(bodies[1]).toContain('Rule z.');
    expect(bodies[0]).toContain('--SYSTEM-PROMPT-DYNAMIC-BOUNDARY--');
    const shared = bodies.map((body) => parsed(Buffer.from(body)).system);
    expect(shared[0][2].cache_control).toEqual({ type: 'ephemeral' });
    expect(JSON.stringify(shared[4].slice(0, 3))).toBe(JSON.stringify(shared[0].slice(0, 3)));
  });
});
