/** Files on the real disk, and both search engines. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { onTestFinished } from 'vitest';
import { fileSearch } from '../../../src/host/search/file-search.js';
import { javascriptEngine } from '../../../src/host/search/javascript-engine.js';
import type { MatchEngine } from '../../../src/host/search/match-engine.js';
import { findRipgrep } from '../../../src/host/search/ripgrep.js';
import { ripgrepEngine } from '../../../src/host/search/ripgrep-engine.js';
import type {
  FileSearch,
  GrepQuery,
  SearchEnd,
  SearchHit,
} from '../../../src/protocol/tools/file-search.js';

export type Tree = Readonly<Record<string, string | Uint8Array | { readonly link: string }>>;

const environment = { PATH: process.env.PATH ?? '' };

export const ENGINES: readonly (readonly [MatchEngine['name'], () => Promise<MatchEngine>])[] = [
  [
    'ripgrep',
    async () => {
      const found = await findRipgrep(environment);
      if (found === undefined) throw new Error('npm has no ripgrep for this platform');
      return ripgrepEngine(found.path, environment);
    },
  ],
  ['javascript', async () => javascriptEngine()],
];

export const searchWith = (name: MatchEngine['name'], maxEntries?: number): FileSearch => {
  const engine = ENGINES.find(([other]) => other === name)?.[1];
  if (engine === undefined) throw new Error(`no engine ${name}`);
  return fileSearch({ engine, ...(maxEntries !== undefined && { maxEntries }) });
};

/** Removed after the test. */
export const makeTree = async (tree: Tree): Promise<string> => {
  const root = await mkdtemp(join(tmpdir(), 'skein-search-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await fillTree(root, tree);
  return root;
};

export const fillTree = async (root: string, tree: Tree): Promise<void> => {
  for (const [name, content] of Object.entries(tree)) {
    const path = join(root, name);
    await mkdir(dirname(path), { recursive: true });
    if (typeof content === 'string' || content instanceof Uint8Array)
      await writeFile(path, content);
    else await symlink(content.link, path);
  }
};

export interface Answer {
  /** `path:line:text`, `path-line-text`, `path=count` or `path`. */
  readonly hits: readonly string[];
  readonly end: SearchEnd;
}

export const grep = async (
  search: FileSearch,
  root: string,
  pattern: string,
  query: Partial<GrepQuery> = {},
): Promise<Answer> => {
  const hits: string[] = [];
  const end = await search.grep({
    root,
    pattern,
    mode: 'lines',
    before: 0,
    after: 0,
    maxHits: 10_000,
    ignoreCase: false,
    multiline: false,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    accepts: () => true,
    onHit: (hit) => hits.push(shown(hit, root)) > 0,
    ...query,
  });
  return { hits, end };
};

const shown = ({ path, line, text, isMatch, count }: SearchHit, root: string): string => {
  const name = relative(root, path);
  if (count !== undefined) return `${name}=${count}`;
  if (line === undefined) return name;
  const mark = isMatch === true ? ':' : '-';
  return `${name}${mark}${line}${mark}${text}`;
};
