import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readAgentCatalog } from '../../src/config/agents/agent-catalog.js';
import { agentListing } from '../../src/tools/agents/agent-listing.js';
import { taskTool } from '../../src/tools/agents/spawn-agent.js';
import { builtinTools } from '../../src/tools/builtin-tools.js';
import { toolbox } from '../../src/tools/toolbox.js';
import { setScene } from '../fakes/skein-process.js';

const NOWHERE = {
  workspace: { root: '/nowhere', folders: [] },
  home: '/nowhere',
  skeinHome: '/nowhere',
  isTrusted: false,
};

const programFiles = () =>
  readdirSync('dist', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => ({ name, text: readFileSync(join('dist', name), 'utf8') }));

describe('the bundle', () => {
  test('is a program that a shell can start', () => {
    expect(readFileSync('dist/skein.js', 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    accessSync('dist/skein.js', constants.X_OK);
  });

  test('shows a model the very tools that the sources describe', async () => {
    const { run } = await setScene();
    const { stdout } = await run(['prompt', '--json']);
    const { tools } = JSON.parse(stdout) as { tools: { text: string }[] };
    const { agents } = await readAgentCatalog({ ...NOWHERE, packageFolder: process.cwd() });
    const task = taskTool(agentListing(agents));
    const own = builtinTools.map((tool) => (tool.name === task.name ? task : tool));
    const described = toolbox(own).wireTools();
    expect(tools.map(({ text }) => text)).toEqual(described.map((tool) => JSON.stringify(tool)));
  });

  test('loads what speaks to Redis only where Redis is meant', () => {
    expect(partsThatLoad('sentinelRetryStrategy', 'WaitingChildrenError')).toEqual([
      'broker',
      'bull-queue',
      'redis-store',
    ]);
  });

  test('loads what lays screens out only where there is a screen', () => {
    expect(partsThatLoad('ink-virtual-text')).toEqual([
      'replay-screen',
      'session-face',
      'swarm-screen',
    ]);
  });

  test('loads what knows how wide emoji are only where lines are laid out', () => {
    const parts = partsThatLoad('RGI_Emoji');
    expect(parts).toContain('session-face');
    expect(parts.filter((name) => /^(?:skein|sdk|print-mode|worker-command)$/.test(name))).toEqual(
      [],
    );
  });

  test('loads what reads HTML only when a page is read', () => {
    const files = programFiles();
    const [chunk, ...others] = files.filter(({ text }) =>
      text.includes('stateBeforeAttributeName'),
    );
    expect(others).toEqual([]);
    const named = (chunk?.name ?? '').replace('chunks/', '');
    const users = files.filter(({ text }) => text.includes(named));
    expect(users).toHaveLength(1);
    expect(users[0]?.text).toMatch(new RegExp(`import\\("\\./${named}"\\)`));
    expect(users[0]?.text).not.toMatch(new RegExp(`from ?"\\./${named}"`));
  });
});

/** The parts of the program that bring these words with them when they are loaded. */
const partsThatLoad = (...words: readonly string[]): readonly string[] => {
  const files = programFiles();
  for (const word of words) expect(files.some(({ text }) => text.includes(word))).toBe(true);
  const loads = new Set(
    files.filter(({ text }) => words.some((word) => text.includes(word))).map(({ name }) => name),
  );
  // A set grows while it is walked: those who load one of them load all of it.
  for (const loaded of loads) {
    const named = loaded.replace('chunks/', '');
    const statically = new RegExp(`(?:from|import) ?"\\./(?:chunks/)?${named}"`);
    for (const { name, text } of files) if (statically.test(text)) loads.add(name);
  }
  return [...loads]
    .filter((name) => !name.includes('/chunk-'))
    .map((name) => name.replace(/^chunks\/|-\w+\.js$/g, ''))
    .sort();
};
