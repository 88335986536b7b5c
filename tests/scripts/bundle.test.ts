import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
// @ts-expect-error The plugin of the bundler has no types.
import { DEFERRED as deferredModules } from '../../scripts/deferred-modules.mjs';
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

const DEFERRED = deferredModules as ReadonlySet<string>;

/** Packages that `skein -p` loads before its first model request. A new one delays every start. */
const PACKAGES_AT_START = ['commander', 'nanoid', 'xstate', 'zod'];

/** Modules of Node that the first request does not need. */
const NOT_AT_START =
  /^(?:child_process|dns|https|tls|readline|perf_hooks|fs\/promises|internal\/deps\/undici\/undici|internal\/crypto\/webcrypto)$/;

/** Maximum number of modules per room that `skein -p` loads before its first model request. */
const MAX_MODULES_AT_START: Readonly<Record<string, number>> = {
  actors: 84,
  cli: 16,
  config: 31,
  context: 33,
  host: 40,
  lib: 24,
  machines: 13,
  memory: 17,
  model: 8,
  policy: 20,
  prompt: 34,
  protocol: 46,
  sdk: 42,
  store: 44,
  terminal: 7,
  tools: 57,
};

/** Maximum size of the modules that are evaluated before the first model request. */
const MAX_BYTES_AT_START = 1_500_000;

describe('the bundle', () => {
  test('is an executable file with a shebang', () => {
    expect(readFileSync('dist/skein.cjs', 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    accessSync('dist/skein.cjs', constants.X_OK);
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

  test('loads Redis clients and Ink from files of their own', async () => {
    const separate = ['bullmq', 'ioredis', 'ink', 'react', 'yoga-layout'];
    const packages = packagesOf(Object.keys(contents()['program.cjs'] ?? {}));
    expect(packages.filter((name) => separate.includes(name))).toEqual([]);
    const { required } = await loadedAtStart();
    expect(required).toEqual([]);
  });

  test('loads few packages and modules before the first model request', async () => {
    const { packages, rooms, bytes } = await loadedAtStart();
    expect(packages).toEqual(PACKAGES_AT_START);
    const grown = [...rooms].filter(([room, count]) => count > (MAX_MODULES_AT_START[room] ?? 0));
    expect(grown).toEqual([]);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES_AT_START);
  });

  test('evaluates no deferred module before the first model request', async () => {
    const { names } = await loadedAtStart();
    expect(names.filter((name) => DEFERRED.has(name))).toEqual([]);
    expect([...DEFERRED].filter((name) => !existsSync(name))).toEqual([]);
  });

  test('loads the parser of YAML only for an agent file that needs it', async () => {
    const agent = (field: string) =>
      `---\nname: scout\ndescription: Looks\n${field}\n---\n\nLook.\n`;
    expect((await loadedAtStart(agent('maxTurns: 3'))).packages).toEqual(PACKAGES_AT_START);
    expect((await loadedAtStart(agent('tools: [Read]'))).packages).toContain('yaml');
  });

  test('loads few modules of Node before the first model request', async () => {
    const { node } = await loadedAtStart();
    expect(node.filter((name) => NOT_AT_START.test(name))).toEqual([]);
  });

  test('loads the HTML parser and the Redis clients of the library on demand', () => {
    const files = Object.entries(contents()).filter(([file]) => /^sdk\.js$|^chunks/.test(file));
    const atOnce = new Set(['sdk.js']);
    // The set grows while it is walked: a file that is loaded loads all its imports.
    for (const file of atOnce) {
      const text = readFileSync(join('dist', file), 'utf8');
      for (const [, name] of text.matchAll(/(?:from|import) ?"\.\/(?:chunks\/)?([\w.-]+)"/g)) {
        atOnce.add(`chunks/${name}`);
      }
    }
    const holders = (name: string) =>
      files.filter(([, modules]) => packagesOf(Object.keys(modules)).includes(name));
    for (const name of ['htmlparser2', 'bullmq', 'ioredis']) {
      expect(holders(name)).not.toEqual([]);
      expect(holders(name).filter(([file]) => atOnce.has(file))).toEqual([]);
    }
  });

  test('starts with the code that V8 compiled at the build', async () => {
    expect(await startOf('dist')).toEqual({ stdout: VERSION_LINE, isCompiled: true });
  });
});

describe('compiled code', () => {
  test.each<[string, (file: string) => void]>([
    ['is missing', (file) => rmSync(file)],
    ['is empty', (file) => writeFileSync(file, '')],
    ['is cut short', (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ['has a changed bit', (file) => changeByte(file, Math.floor(statSync(file).size * 0.7))],
    ['belongs to another program', (file) => changeByte(file, 3)],
  ])('is ignored if it %s', async (_, damage) => {
    const dist = copyOfBuild();
    damage(codeFile(dist));
    expect(await startOf(dist)).toEqual({ stdout: VERSION_LINE, isCompiled: false });
  });

  test('is ignored if the program was changed', async () => {
    const dist = copyOfBuild();
    const program = join(dist, 'program.cjs');
    const text = readFileSync(program, 'latin1');
    // The same length, which is all that V8 compares.
    writeFileSync(program, text.replace('Sections', 'SECTIONS'), 'latin1');
    expect(await startOf(dist)).toEqual({ stdout: VERSION_LINE, isCompiled: false });
  });
});

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const VERSION_LINE = `${version}\n`;

const codeFile = (dist: string) => join(dist, `program-${process.version}-${process.arch}.cache`);

/** Copies the program without the parts that `--version` does not load. */
const copyOfBuild = (): string => {
  const dist = mkdtempSync(join(tmpdir(), 'dist-'));
  onTestFinished(() => rmSync(dist, { recursive: true }));
  for (const file of ['skein.cjs', 'keep-code.cjs', 'program.cjs', basename(codeFile('dist'))]) {
    copyFileSync(join('dist', file), join(dist, file));
  }
  return dist;
};

const changeByte = (file: string, at: number) => {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
};

/** Starts the program of a build. `isCompiled` is true if V8 accepted the compiled code. */
const startOf = async (dist: string) => {
  const preload = resolve('tests/scripts/note-compiled.cjs');
  const args = ['--require', preload, join(dist, 'skein.cjs'), '--version'];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  return { stdout, isCompiled: stderr === 'accepted\n' };
};

/** Packages, modules per room and bytes that `skein -p` evaluates before its first request, and required files. */
const loadedAtStart = async (agent?: string) => {
  const { run, root, workspace } = await setScene();
  if (agent !== undefined) {
    mkdirSync(join(workspace, '.claude/agents'), { recursive: true });
    writeFileSync(join(workspace, '.claude/agents/scout.md'), agent);
  }
  const notes = join(root, 'modules');
  const preload = resolve('tests/scripts/note-modules.cjs');
  const env = { SKEIN_TEST_MODULES: notes, NODE_OPTIONS: `--require ${preload}` };
  expect(await run(['-p', 'Hello.'], { env })).toMatchObject({ code: 0, stdout: 'Done.\n' });
  const { ran, required, node } = JSON.parse(readFileSync(notes, 'utf8')) as Record<
    string,
    string[]
  >;
  const text = readFileSync(PROGRAM.replace('skein.cjs', 'program.cjs'), 'utf8');
  const onDemand = new Set([...text.matchAll(ON_DEMAND)].flatMap(([, name = '']) => name));
  expect(onDemand.size).toBeGreaterThan(100);
  const evaluated = new Set(ran);
  const modules = Object.entries(contents()['program.cjs'] ?? {}).filter(
    // A module of types alone has no bytes in the bundle.
    ([name, size]) => size > 0 && (!onDemand.has(name) || evaluated.has(name)),
  );
  const rooms = new Map<string, number>();
  for (const [, room = ''] of modules.flatMap(([name]) => [/^src\/(\w+)\//.exec(name) ?? []])) {
    if (room !== '') rooms.set(room, (rooms.get(room) ?? 0) + 1);
  }
  return {
    packages: packagesOf(modules.map(([name]) => name)),
    names: modules.map(([name]) => name),
    node: (node ?? []).map((name) => name.replace(/^NativeModule /, '')),
    rooms,
    bytes: modules.reduce((sum, [, size]) => sum + size, 0),
    required: (required ?? []).filter(
      (file) => file.startsWith(dirname(PROGRAM)) && file !== PROGRAM,
    ),
  };
};

/** Bytes per module of each file of the bundle, from scripts/build.mjs. */
const contents = () =>
  JSON.parse(readFileSync('dist/.contents.json', 'utf8')) as Readonly<
    Record<string, Readonly<Record<string, number>>>
  >;

const PACKAGE = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;

const packagesOf = (modules: readonly string[]) =>
  [...new Set(modules.flatMap((name) => PACKAGE.exec(name)?.[1] ?? []))].sort();

/** Start of the function that evaluates a module on demand. */
const ON_DEMAND = /__(?:esm|commonJS)\(\{"?([^"({]+)"?\(/g;
