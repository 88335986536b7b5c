/** Rules for folders, file names and exports, as pure functions of the files. */
import { dirname } from 'node:path';
import { exportsOf, importsOf, type SourceFile, skeleton } from './source-text.js';

type Files = readonly SourceFile[];
/** Returns violations, each a sentence that names the file. */
type Rule = (files: Files) => readonly string[];

const MAX_FILES_IN_FOLDER = 20;

/** Entry points: package.json and the build name their paths, and no file imports them by name. */
const ENTRY_POINTS = [
  'src/cli/compiled-code/keep-code.ts',
  'src/cli/launch.ts',
  'src/cli/main.ts',
  'src/host/process/ownership/watchdog.ts',
  'src/actors/checkpoints/shard-thread.ts',
  'src/sdk/skein.ts',
];

const roomOf = (file: string): string => file.split('/').slice(0, 2).join('/');

export const foldersAreSmall: Rule = (files) => {
  const counts = new Map<string, number>();
  for (const { file } of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > MAX_FILES_IN_FOLDER)
    .map(([folder, count]) => `${folder} has ${count} files`);
};

/** Inside a room the graph of folders has no cycle. A folder and its sub-folder are two folders. */
export const foldersImportOneWay: Rule = (files) => {
  const known = new Set(files.map(({ file }) => file));
  const edges = new Map<string, Set<string>>();
  for (const { file, target, typeOnly } of files.flatMap(importsOf)) {
    const [from, to] = [dirname(file), dirname(target)];
    const isInRoom = known.has(target) && roomOf(file) === roomOf(target);
    if (typeOnly || !isInRoom || from === to) continue;
    edges.set(from, (edges.get(from) ?? new Set()).add(to));
  }
  const reaches = (from: string, goal: string, seen: Set<string>): boolean =>
    [...(edges.get(from) ?? [])].some((next) => {
      if (next === goal) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, goal, seen);
    });
  return [...edges.keys()]
    .filter((folder) => reaches(folder, folder, new Set()))
    .map((folder) => `${folder} imports a folder that imports it back`);
};

const kebab = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();

export const filesAreNamedAfterAnExport: Rule = (files) =>
  files
    .filter((source) => {
      const name = /([^/]+)\.tsx?$/.exec(source.file)?.[1] ?? '';
      return !exportsOf(source).some((exported) => kebab(exported) === name);
    })
    .map(({ file }) => file)
    .filter((file) => !ENTRY_POINTS.includes(file))
    .map((file) => `${file} exports nothing with its name`);

export const exportsAreUnique: Rule = (files) => {
  const owners = new Map<string, string[]>();
  for (const source of files) {
    if (ENTRY_POINTS.includes(source.file)) continue;
    for (const name of new Set(exportsOf(source))) {
      owners.set(name, [...(owners.get(name) ?? []), source.file]);
    }
  }
  return [...owners]
    .filter(([, places]) => places.length > 1)
    .map(([name, places]) => `${name} is exported by ${places.join(' and ')}`);
};

/** A line of a folder tree: bars of three characters for each level, then the name. */
const BRANCH = /^((?:[│ ] {2})*)[├└]─ ([\w-]+)/;

/** Compares the tree of folders in a document, the code block that starts with `src`, with the folders of the files. */
export const treeNamesEveryFolder = (page: string, files: Files): readonly string[] => {
  const real = new Set(files.flatMap(({ file }) => foldersAbove(file)));
  const named = new Set<string>();
  const path: string[] = [];
  for (const line of /```\nsrc\n([\s\S]*?)```/.exec(page)?.[1]?.split('\n') ?? []) {
    const [, bars, name] = BRANCH.exec(line) ?? [];
    if (bars === undefined || name === undefined) continue;
    path.splice(bars.length / 3, Number.POSITIVE_INFINITY, name);
    named.add(['src', ...path].join('/'));
  }
  return [
    ...[...real].filter((folder) => !named.has(folder)).map((at) => `the tree lacks ${at}`),
    ...[...named].filter((folder) => !real.has(folder)).map((at) => `${at} does not exist`),
  ];
};

/** Returns the folders of a file below `src`: `src/a/b/c.ts` is in `src/a` and `src/a/b`. */
const foldersAbove = (file: string): readonly string[] => {
  const parts = dirname(file).split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 2).join('/'));
};

/** Finds `...{ a }` and `...[a]`. A method call on a literal is allowed. */
export const noLiteralSpreads: Rule = (files) =>
  files.flatMap(({ file, text }) => {
    const { code } = skeleton(text);
    return [...code.matchAll(/\.\.\.\s*\(*\s*(?=[{[])/g)]
      .map(({ index, 0: { length } }) => code.slice(endOfBrackets(code, index + length)))
      .filter((rest) => /^\s*(?:as const\s*)?\)*\s*[,}\])]/.test(rest))
      .map(() => `${file} spreads a literal`);
  });

/** Returns the position behind the bracket that closes the bracket at `start`. */
const endOfBrackets = (code: string, start: number): number => {
  let depth = 0;
  for (let at = start; at < code.length; at += 1) {
    if ('{[('.includes(code[at] ?? '')) depth += 1;
    else if ('}])'.includes(code[at] ?? '')) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return code.length;
};
