/** SKEIN_HOME under other names in the workspace: bind mounts of it, of its parent and of its parts, and hard links. */
import { existsSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Rules, resultsIn, type Scene, STREAM, setScene } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

/** Text that only files of SKEIN_HOME contain. */
const STATE = 'contents of the state folder';

/** Returns a scene whose workspace shows SKEIN_HOME, and the program that mounts it there for one process. */
const setUp = async (rules: Rules) => {
  const scene = await setScene(rules);
  const { home, skeinHome, workspace } = scene;
  for (const folder of ['keys', 'projects/p'])
    mkdirSync(join(skeinHome, folder), { recursive: true });
  writeFileSync(join(skeinHome, 'settings.json'), JSON.stringify({ env: { NOTE: STATE } }));
  for (const name of ['keys/k', 'projects/p/notes.md']) writeFileSync(join(skeinHome, name), STATE);
  const mounts = [
    [skeinHome, 'alias'],
    [home, 'up'],
    [join(skeinHome, 'keys'), 'part'],
    [join(skeinHome, 'projects/p'), 'deep'],
  ] as const;
  for (const [, name] of mounts) mkdirSync(join(workspace, name));
  linkSync(join(skeinHome, 'settings.json'), join(workspace, 'linked.json'));
  linkSync(join(skeinHome, 'keys/k'), join(workspace, 'linked-key'));
  writeFileSync(join(workspace, 'plain.txt'), 'an ordinary file');
  const script = mounts.map(([from, name]) => `mount --bind ${from} ${join(workspace, name)}`);
  const through = ['unshare', '-m', 'sh', '-c', `${script.join(' && ')} && exec "$@"`, 'sh'];
  return { scene, through: through as [string, ...string[]] };
};

const resultsOf = (scene: Scene) =>
  resultsIn(scene.bodies()[1]).map(({ content }) => String(content));

const PATHS = [
  'alias/settings.json',
  'up/.skein/settings.json',
  'part/k',
  'deep/notes.md',
  'linked.json',
  'linked-key',
];

needs.describe('root-mounts')('SKEIN_HOME under another name', () => {
  test('is forbidden to every tool, and no search shows its files', async () => {
    const calls = [
      ...PATHS.map((path) => ({ name: 'Read', input: { file_path: path } })),
      ...PATHS.map((path) => ({ name: 'Bash', input: { command: `cat ${path}` } })),
      { name: 'Write', input: { file_path: 'alias/planted.json', content: 'x' } },
      { name: 'Bash', input: { command: 'echo x > up/.skein/planted.json' } },
      { name: 'Grep', input: { pattern: STATE, output_mode: 'content' } },
      { name: 'Glob', input: { pattern: '**/*.json' } },
      { name: 'Read', input: { file_path: 'plain.txt' } },
    ];
    const { scene, through } = await setUp([
      { match: { turn: 0 }, reply: { tool_use: calls } },
      { reply: 'Done.' },
    ]);
    const flags = ['--permission-mode', 'bypassPermissions', ...STREAM];
    const env = { IS_SANDBOX: '1' };
    const { code } = await scene.run(['-p', 'go', ...flags], { env, through });
    expect(code).toBe(0);
    const results = resultsOf(scene);
    expect(results).toHaveLength(calls.length);
    for (const [index, result] of results.entries()) {
      expect([calls[index], result.includes(STATE)]).toEqual([calls[index], false]);
    }
    expect(
      results.slice(0, 2 * PATHS.length + 2).filter((text) => !text.includes('state')),
    ).toEqual([]);
    expect(results.at(-2)).not.toContain('settings.json');
    expect(results.at(-1)).toContain('an ordinary file');
    expect(existsSync(join(scene.skeinHome, 'planted.json'))).toBe(false);
  }, 60_000);
});

needs.describe('root-mounts', 'bwrap')('SKEIN_HOME under another name in a sandbox', () => {
  test('is empty for commands, whatever they run', async () => {
    const { scene, through } = await setUp([
      {
        match: { turn: 0 },
        reply: { tool_use: [{ name: 'Bash', input: { command: 'sh ./probe.sh' } }] },
      },
      { reply: 'Done.' },
    ]);
    const shown = PATHS.filter((path) => !path.startsWith('linked'));
    const probe = `cat ${shown.join(' ')}; echo x > alias/planted; echo x >> up/.skein/settings.json; mv up up2; echo end\n`;
    writeFileSync(join(scene.workspace, 'probe.sh'), probe);
    const flags = ['--permission-mode', 'bypassPermissions', ...STREAM];
    const env = { IS_SANDBOX: '1', SKEIN_SANDBOX: 'required' };
    const { code } = await scene.run(['-p', 'go', ...flags], { env, through });
    expect(code).toBe(0);
    const [result = ''] = resultsOf(scene);
    expect(result).toContain('end');
    expect(result).not.toContain(STATE);
    expect(existsSync(join(scene.skeinHome, 'planted'))).toBe(false);
    const settings = readFileSync(join(scene.skeinHome, 'settings.json'), 'utf8');
    expect(settings).toBe(JSON.stringify({ env: { NOTE: STATE } }));
  }, 60_000);
});
