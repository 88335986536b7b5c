/** The rules of the architecture as pure functions of the files. Edit a table only together with docs/architecture.md. */
import { isBuiltin } from 'node:module';
import { type Import, importsOf, type SourceFile, skeleton } from './source-text.js';

type Files = readonly SourceFile[];
/** Returns violations, each a sentence that names the file. */
type Rule = (files: Files) => readonly string[];

const BELOW_ACTORS = [
  'machines',
  'prompt',
  'context',
  'tools',
  'policy',
  'config',
  'memory',
  'model',
  'store',
  'host',
  'protocol',
  'lib',
];

/** The rooms that people use show prompts and never assemble a prompt. */
const BELOW_PEOPLE = BELOW_ACTORS.filter((room) => room !== 'prompt');

/** Imports go down only: a room may import the rooms listed here, and itself. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  cli: ['ui', 'terminal', 'sdk', 'views', 'actors', 'simulator', ...BELOW_PEOPLE],
  ui: ['terminal', 'sdk', 'views', 'actors', ...BELOW_PEOPLE],
  terminal: ['sdk', 'views', 'actors', ...BELOW_PEOPLE],
  sdk: ['views', 'actors', ...BELOW_ACTORS],
  views: ['policy', 'context', 'protocol', 'lib'],
  actors: BELOW_ACTORS,
  machines: ['protocol', 'lib'],
  prompt: ['protocol', 'lib'],
  context: ['protocol', 'lib'],
  tools: ['protocol', 'lib'],
  policy: ['protocol', 'lib'],
  config: ['protocol', 'lib'],
  memory: ['protocol', 'lib'],
  model: ['protocol', 'lib'],
  store: ['protocol', 'lib'],
  host: ['protocol', 'lib'],
  simulator: ['protocol', 'lib'],
  protocol: ['lib'],
  lib: [],
};

export const ROOM_NAMES = Object.keys(ROOMS);

/** The door of each dependency: the files that may import the package. */
const DOORS: Readonly<Record<string, RegExp>> = {
  '@anthropic-ai/sdk': /^src\/model\/sdk-request\.ts$/,
  '@vscode/ripgrep': /^src\/host\/search\/ripgrep\.ts$/,
  bullmq: /^src\/store\/redis\/jobs\/bull-connection\.ts$/,
  commander: /^src\/cli\//,
  htmlparser2: /^src\/tools\/web\/read-html\.ts$/,
  'https-proxy-agent': /^src\/(model|host)\//,
  ink: /^src\/ui\//,
  ioredis: /^src\/store\/redis\/connection\/redis-connections\.ts$/,
  marked: /^src\/memory\//,
  nanoid: /^src\/protocol\/ids\.ts$/,
  react: /^src\/ui\//,
  'string-width': /^src\/terminal\/text\/text-width\.ts$/,
  unbash: /^src\/policy\//,
  yaml: /^src\/(memory|config)\//,
  xstate: /^src\/(machines|actors)\//,
  zod: /^src\//,
};

/** Rooms without clock, disk, network or random numbers, and the modules of Node that they may import. */
const PURE: Readonly<Record<string, readonly string[]>> = {
  machines: [],
  context: ['path'],
  prompt: ['path', 'crypto'],
  policy: ['path', 'crypto'],
};

const EFFECTS =
  /\b(?:Date\.now|new Date\(\s*\)|Math\.random|performance\.now|random(?:UUID|Bytes|Int)|console\s*\.)|(?<![.\w])(?:process\s*[.[]|fetch\(|set(?:Timeout|Interval|Immediate)\()/g;

const MAX_LINES = 400;
const VAGUE_NAMES = /^(utils?|helpers?|common|misc|shared|types|index)\.tsx?$/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d)?\.tsx?$/;

const roomOf = (file: string) => /^src\/([^/]+)\//.exec(file)?.[1];
const allImports = (files: Files) => files.flatMap(importsOf);
const isInside = (target: string) => target.startsWith('src/');
/** The package of `zod/v4` is zod. Relative targets are files here. */
const packageOf = (target: string) => /^(@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target;
const isPackage = ({ target }: Import) =>
  !isBuiltin(target) && !isInside(target) && target !== 'package.json';

export const everyFileHasARoom: Rule = (files) =>
  files
    .filter(({ file }) => !((roomOf(file) ?? '') in ROOMS))
    .map(({ file }) => `${file} is in no room`);

export const importsGoDown: Rule = (files) =>
  allImports(files)
    .filter(({ target }) => isInside(target))
    .filter(({ file, target }) => {
      const [from = '', to = ''] = [roomOf(file), roomOf(target)];
      return from !== to && !ROOMS[from]?.includes(to);
    })
    .map(({ file, target }) => `${file} may not import ${target}`);

export const dependenciesHaveOneDoor: Rule = (files) =>
  allImports(files)
    .filter(isPackage)
    .filter(({ file, target }) => !DOORS[packageOf(target)]?.test(file))
    .map(({ file, target }) => `${file} is no door for ${target}`);

export const pureRoomsHaveNoEffects: Rule = (files) =>
  files.flatMap((source) => {
    const allowed = PURE[roomOf(source.file) ?? ''];
    if (allowed === undefined) return [];
    const modules = importsOf(source)
      .filter(({ target }) => isBuiltin(target) && !allowed.includes(target.replace('node:', '')))
      .map(({ target }) => target);
    const words = skeleton(source.text).code.match(EFFECTS) ?? [];
    return [...modules, ...words].map((effect) => `${source.file} is pure and uses ${effect}`);
  });

export const filesAreSmall: Rule = (files) =>
  files
    .map(({ file, text }) => ({ file, lines: text.replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ file, lines }) => `${file} has ${lines} lines`);

export const filesHaveSpecificNames: Rule = (files) =>
  files
    .map(({ file }) => ({ file, name: file.slice(file.lastIndexOf('/') + 1) }))
    .filter(({ name }) => VAGUE_NAMES.test(name) || !KEBAB.test(name))
    .map(({ file }) => `${file} needs a name of its own, in kebab-case`);

export const testsPassFakesIn: Rule = (files) =>
  files
    .filter(({ text }) => /\bvi\s*\.\s*(mock|doMock|hoisted)\b/.test(skeleton(text).code))
    .map(({ file }) => `${file} replaces a module instead of passing a fake in`);

/** A file that a document names in backticks, such as `src/cli/main.ts`, exists. */
export const documentsNameRealFiles = (documents: Files, files: Files): readonly string[] => {
  const real = new Set(files.map(({ file }) => file));
  return documents.flatMap(({ file, text }) =>
    [...text.matchAll(/`((?:src|tests|scripts)\/[\w./-]+\.(?:tsx?|mjs))`/g)]
      .filter(([, name = '']) => !real.has(name))
      .map(([, name]) => `${file} speaks of ${name}, which is not there`),
  );
};

/** Tarjan's strongly connected components over imports that remain at run time. */
export const importsHaveNoCycles: Rule = (files) => {
  const edges = new Map(files.map((source) => [source.file, [] as string[]]));
  for (const { file, target, typeOnly } of allImports(files)) {
    if (!typeOnly && edges.has(target)) edges.get(file)?.push(target);
  }
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[] = [];
  const lower = (file: string, to: number) => low.set(file, Math.min(low.get(file) ?? to, to));
  const visit = (file: string) => {
    order.set(file, order.size);
    lower(file, order.size - 1);
    stack.push(file);
    for (const next of edges.get(file) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) lower(file, low.get(next) ?? 0);
    }
    if (low.get(file) !== order.get(file)) return;
    const component = stack.splice(stack.indexOf(file));
    const isCycle = component.length > 1 || edges.get(file)?.includes(file);
    if (isCycle) cycles.push(`${component.join(' → ')} → ${file}`);
  };
  for (const { file } of files) if (!order.has(file)) visit(file);
  return cycles;
};
