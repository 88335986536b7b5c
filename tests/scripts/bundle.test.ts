import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readAgentCatalog } from '../../src/config/agents/agent-catalog.js';
import { agentListing } from '../../src/tools/agents/agent-listing.js';
import { taskTool } from '../../src/tools/agents/spawn-agent.js';
import { builtinTools } from '../../src/tools/builtin-tools.js';
import { toolbox } from '../../src/tools/toolbox.js';
import { PROGRAM, setScene } from '../fakes/skein-process.js';

const NOWHERE = {
  workspace: { root: '/nowhere', folders: [] },
  home: '/nowhere',
  skeinHome: '/nowhere',
  isTrusted: false,
};

/** Packages that `skein -p` loads before its first model request. A new one delays every start. */
const PACKAGES_AT_START = [
  '@anthropic-ai/sdk',
  '@opentelemetry/api',
  'commander',
  'nanoid',
  'unbash',
  'xstate',
  'zod',
];

/** Maximum number of modules per room that `skein -p` loads before its first model request. */
const MAX_MODULES_AT_START: Readonly<Record<string, number>> = {
  actors: 105,
  cli: 17,
  config: 33,
  context: 33,
  host: 60,
  lib: 23,
  machines: 14,
  memory: 17,
  model: 8,
  policy: 75,
  prompt: 37,
  protocol: 51,
  sdk: 42,
  store: 53,
  terminal: 7,
  tools: 59,
};

/** Maximum size of the files of the bundle that are loaded before the first model request. */
const MAX_BYTES_AT_START = 1_970_000;

const programFiles = () =>
  readdirSync('dist', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => ({ name, text: readFileSync(join('dist', name), 'utf8') }));

describe('the bundle', () => {
  test('is an executable file with a shebang', () => {
    expect(readFileSync('dist/skein.js', 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    accessSync('dist/skein.js', constants.X_OK);
  });

  test('sends the tools of the sources to the model', async () => {
    const { run } = await setScene();
    const { stdout } = await run(['prompt', '--json']);
    const { tools } = JSON.parse(stdout) as { tools: { text: string }[] };
    const { agents } = await readAgentCatalog({ ...NOWHERE, packageFolder: process.cwd() });
    const task = taskTool(agentListing(agents));
    const own = builtinTools.map((tool) => (tool.name === task.name ? task : tool));
    const described = toolbox(own).wireTools();
    expect(tools.map(({ text }) => text)).toEqual(described.map((tool) => JSON.stringify(tool)));
  });

  test('loads the Redis clients only in the Redis modules', () => {
    expect(partsThatLoad('sentinelRetryStrategy', 'WaitingChildrenError')).toEqual([
      'bull-queue',
      'redis-connections',
      'redis-store',
    ]);
  });

  test('loads Ink only in modules with a screen', () => {
    expect(partsThatLoad('ink-virtual-text')).toEqual([
      'screen-view',
      'show-replay',
      'show-swarm-screen',
    ]);
  });

  test('loads the widths of emoji for screens, and not for print mode, SDK or workers', () => {
    const parts = partsThatLoad('RGI_Emoji');
    expect(parts).toContain('screen-view');
    expect(parts.filter((name) => /^(?:skein|sdk|print-mode|worker-command)$/.test(name))).toEqual(
      [],
    );
  });

  test('loads few packages and modules before the first model request', async () => {
    const { packages, rooms, bytes } = await loadedAtStart();
    expect(packages).toEqual(PACKAGES_AT_START);
    const grown = [...rooms].filter(([room, count]) => count > (MAX_MODULES_AT_START[room] ?? 0));
    expect(grown).toEqual([]);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES_AT_START);
  });

  test('loads the HTML parser on demand', () => {
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

/** Entry modules of the bundle that statically load a file with one of these words. */
const partsThatLoad = (...words: readonly string[]): readonly string[] => {
  const files = programFiles();
  for (const word of words) expect(files.some(({ text }) => text.includes(word))).toBe(true);
  const loads = new Set(
    files.filter(({ text }) => words.some((word) => text.includes(word))).map(({ name }) => name),
  );
  // The set grows while it is walked: a file that loads one of these files loads all its imports.
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

/** Packages, modules per room and bytes that `skein -p` loads before its first request. */
const loadedAtStart = async () => {
  const { run, root } = await setScene();
  const [notes, dist] = [join(root, 'loads'), dirname(PROGRAM)];
  const preload = pathToFileURL(resolve('tests/scripts/note-loads.mjs')).href;
  const env = { SKEIN_TEST_LOADS: notes, NODE_OPTIONS: `--import ${preload}` };
  expect(await run(['-p', 'Hello.'], { env })).toMatchObject({ code: 0, stdout: 'Done.\n' });
  const lines = readFileSync(notes, 'utf8').split('\n');
  expect(lines).toContain('request');
  const files = lines
    .slice(0, lines.indexOf('request'))
    .filter((line) => line.startsWith('file:'))
    .map((line) => relative(dist, fileURLToPath(line)));
  const contents = JSON.parse(readFileSync(join(dist, '.contents.json'), 'utf8')) as Contents;
  const modules = files.flatMap((file) =>
    // A module of types alone has no bytes in the bundle.
    Object.entries(contents[file] ?? {}).flatMap(([name, size]) => (size > 0 ? name : [])),
  );
  const rooms = new Map<string, number>();
  for (const [, room = ''] of modules.flatMap((name) => [/^src\/(\w+)\//.exec(name) ?? []])) {
    if (room !== '') rooms.set(room, (rooms.get(room) ?? 0) + 1);
  }
  return {
    packages: [...new Set(modules.flatMap((name) => PACKAGE.exec(name)?.[1] ?? []))].sort(),
    rooms,
    bytes: files.reduce((sum, file) => sum + statSync(join(dist, file)).size, 0),
  };
};

/** Bytes per module of each file of the bundle, from scripts/build.mjs. */
type Contents = Readonly<Record<string, Readonly<Record<string, number>>>>;

const PACKAGE = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;
