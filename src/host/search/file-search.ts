/** FileSearch port: walks the tree and searches the found files with a match engine. */
import { lstat, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { limitConcurrency } from '../../lib/async/limit-concurrency.js';
import { compileGlob, type Glob } from '../../lib/paths/glob.js';
import {
  type FileSearch,
  type FoundFiles,
  type GrepQuery,
  type ListedEntry,
  type Listing,
  type ListQuery,
  MAX_COUNTED_FILES,
  MAX_SEARCH_ENTRIES,
  type SearchEnd,
  SearchError,
  type SearchScope,
} from '../../protocol/tools/file-search.js';
import { FileError } from '../../protocol/tools/workspace.js';
import { probeFile } from '../files/bounded-read.js';
import { fileError } from '../files/file-error.js';
import { FILE_TYPES, globOfType } from './file-types.js';
import {
  type MatchEngine,
  type PreparedMatch,
  refuseIncompatible,
  type SkippedFiles,
} from './match-engine.js';
import { NewestFiles } from './newest-files.js';
import { type Names, walkFiles } from './tree-walk.js';

export interface FileSearchOptions {
  /** Called once, before the first content search. */
  readonly engine: () => Promise<MatchEngine>;
  /** Maximum files and directories per search. Default: `MAX_SEARCH_ENTRIES`. */
  readonly maxEntries?: number;
}

export const fileSearch = (options: FileSearchOptions): FileSearch => {
  const maxEntries = options.maxEntries ?? MAX_SEARCH_ENTRIES;
  const limited = limitConcurrency(MAX_CONCURRENT_SEARCHES);
  let engine: Promise<MatchEngine> | undefined;
  return {
    list,
    find: (query) => limited(() => new Search(query, maxEntries).find(query.pattern, query.newest)),
    grep: (query) =>
      limited(() => {
        engine ??= options.engine();
        return new Search(query, maxEntries).grep(query, engine);
      }),
  };
};

/** A message may request hundreds of searches, and each search starts processes. */
const MAX_CONCURRENT_SEARCHES = 8;

/** Linux limits arguments and environment to 2 MiB, macOS to 1 MiB. */
const BATCH_CHARACTERS = 60_000;
const BATCH_FILES = 2_000;
/** Small, so that a search with early hits reads few files. */
const FIRST_BATCH_FILES = 100;
/** Number of concurrent batches. */
const BATCHES_AHEAD = 3;

/** A single search with its counters. */
class Search {
  private readonly root: string;
  private readonly maxEntries: number;
  private readonly callerSignal: AbortSignal;
  private readonly stop = new AbortController();
  private readonly signal: AbortSignal;
  private readonly timeout: AbortSignal;
  private readonly skipped: SkippedFiles = { unreadable: 0, tooLarge: 0, tooSlow: 0 };
  private leftOut = 0;
  private candidateCount = 0;
  private isCutShort = false;
  private hasEnough = false;

  constructor({ root, signal, timeoutMs }: SearchScope, maxEntries: number) {
    this.root = root;
    this.maxEntries = maxEntries;
    this.callerSignal = signal;
    this.timeout = AbortSignal.timeout(timeoutMs);
    this.signal = AbortSignal.any([signal, this.timeout, this.stop.signal]);
  }

  async find(pattern: string, newest: number): Promise<FoundFiles> {
    const glob = readGlob(pattern);
    if ((await kindOf(this.root)) === 'file') throw new FileError('not-a-directory', this.root);
    const found = new NewestFiles(newest);
    for await (const names of this.walk(glob)) {
      if (!glob.matches(names)) continue;
      const path = join(this.root, ...names);
      const stats = await lstat(path).catch(() => undefined);
      if (stats !== undefined) found.add(path, stats.mtimeMs);
    }
    return { files: found.paths(), total: found.total, end: this.end() };
  }

  async grep(query: GrepQuery, engine: Promise<MatchEngine>): Promise<SearchEnd> {
    refuseIncompatible(query);
    const isFile = (await kindOf(this.root)) === 'file';
    const candidates = this.candidates(query, isFile);
    try {
      const match = await (await engine).prepare(query, this.signal);
      // If the search starts from a file, paths are relative to the root of the disk.
      const root = isFile ? '/' : this.root;
      await this.searchBatches(root, batches(candidates), match, query);
    } finally {
      // Stop batches that still run, because their hits are not read any more.
      this.stop.abort();
      await candidates.return(undefined);
    }
    return this.end();
  }

  /** Reports hits in the order of the batches. Later batches run while an earlier batch is read. */
  private async searchBatches(
    root: string,
    fileBatches: AsyncGenerator<readonly string[]>,
    match: PreparedMatch,
    query: GrepQuery,
  ): Promise<void> {
    const running: AsyncIterable<{ readonly file: string }>[] = [];
    let last: { readonly file: string; readonly isShown: boolean } | undefined;
    for (;;) {
      while (running.length < BATCHES_AHEAD) {
        const { value, done } = await fileBatches.next();
        if (done === true) break;
        running.push(match(root, value, this.skipped));
      }
      const batch = running.shift();
      if (batch === undefined || this.signal.aborted) return;
      for await (const { file, ...hit } of batch) {
        const path = join(root, file);
        if (last?.file !== file) last = { file, isShown: await this.mayShow(path, query) };
        if (!last.isShown || query.onHit({ path, ...hit })) continue;
        this.hasEnough = true;
        return;
      }
    }
  }

  private async mayShow(path: string, { accepts }: GrepQuery): Promise<boolean> {
    // The permission ruling covered the start path, so a start file is allowed.
    if (path !== this.root && !accepts(path)) return false;
    const probe = await probeFile(path);
    if (probe === 'too-large') this.skipped.tooLarge += 1;
    return probe === 'text';
  }

  private async *candidates(query: GrepQuery, isFile: boolean): AsyncGenerator<string> {
    const isExcluding = query.glob?.startsWith('!') === true;
    const glob = query.glob === undefined ? undefined : readGlob(query.glob.replace(/^!/, ''));
    const type = query.type === undefined ? undefined : readType(query.type);
    if (isFile) {
      yield this.root.slice(1);
      return;
    }
    for await (const names of this.walk(isExcluding ? undefined : glob)) {
      if (glob !== undefined && glob.matches(names) === isExcluding) continue;
      if (type !== undefined && !type.matches(names)) continue;
      if (this.isProtected(names, query)) this.leftOut += 1;
      else yield names.join('/');
    }
  }

  /** Checks the first `MAX_COUNTED_FILES` files. Later files are checked only when they match. */
  private isProtected(names: Names, { accepts }: GrepQuery): boolean {
    this.candidateCount += 1;
    return this.candidateCount <= MAX_COUNTED_FILES && !accepts(join(this.root, ...names));
  }

  private walk(glob: Glob | undefined): AsyncGenerator<Names> {
    return walkFiles({
      root: this.root,
      maxEntries: this.maxEntries,
      signal: this.signal,
      wantsHidden: (name) => glob?.namesHidden(name) === true,
      onUnreadable: () => {
        this.skipped.unreadable += 1;
      },
      onCut: () => {
        this.isCutShort = true;
      },
    });
  }

  private end(): SearchEnd {
    const mayHaveLeftOutMore = this.candidateCount > MAX_COUNTED_FILES;
    const leftOut = { leftOut: this.leftOut, mayHaveLeftOutMore };
    return { reason: this.reason(), ...leftOut, ...this.skipped };
  }

  private reason(): SearchEnd['reason'] {
    if (this.hasEnough) return 'enough';
    if (this.callerSignal.aborted) return 'aborted';
    if (this.timeout.aborted) return 'timeout';
    return this.isCutShort ? 'entries' : 'complete';
  }
}

async function* batches(files: AsyncGenerator<string>): AsyncGenerator<readonly string[]> {
  let batch: string[] = [];
  let characters = 0;
  let maxFiles = FIRST_BATCH_FILES;
  for await (const file of files) {
    // Prefix a name that ripgrep would read as a flag or as standard input.
    const name = file.startsWith('-') ? `./${file}` : file;
    batch.push(name);
    characters += name.length + 1;
    if (batch.length < maxFiles && characters < BATCH_CHARACTERS) continue;
    yield batch;
    batch = [];
    characters = 0;
    maxFiles = BATCH_FILES;
  }
  if (batch.length > 0) yield batch;
}

const readGlob = (pattern: string): Glob => {
  try {
    return compileGlob(pattern.replace(/^(?:\.\/)+/, ''));
  } catch (error) {
    throw new SearchError(
      `The glob ${JSON.stringify(pattern.slice(0, 200))} cannot be used: ${(error as Error).message}. Write it like src/**/*.{ts,tsx}.`,
    );
  }
};

const readType = (type: string): Glob => {
  const glob = globOfType(type);
  if (glob !== undefined) return compileGlob(glob);
  throw new SearchError(
    `There is no file type ${JSON.stringify(type)}. Use a glob such as "*.${type.replace(/\W/g, '')}", or one of: ${FILE_TYPES.join(', ')}.`,
  );
};

const kindOf = async (path: string): Promise<'file' | 'directory'> => {
  const stats = await stat(path).catch((error: unknown) => {
    throw fileError(error, path);
  });
  if (stats.isDirectory()) return 'directory';
  if (stats.isFile()) return 'file';
  throw new FileError('not-a-file', path);
};

const list = async ({ directory, maxEntries, ignore }: ListQuery): Promise<Listing> => {
  const ignored = ignore.map(readGlob);
  if ((await kindOf(directory)) === 'file') throw new FileError('not-a-directory', directory);
  const allNames = await readdir(directory).catch((error: unknown) => {
    throw fileError(error, directory);
  });
  const names = allNames.filter((name) => !ignored.some((glob) => glob.matches([name]))).sort();
  const entries = await Promise.all(
    names.slice(0, maxEntries).map((name) => describeEntry(join(directory, name), name)),
  );
  return { entries, total: names.length };
};

const describeEntry = async (path: string, name: string): Promise<ListedEntry> => {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isDirectory()) return { name, kind: 'directory' };
  if (stats?.isFile()) return { name, kind: 'file', size: stats.size };
  if (!stats?.isSymbolicLink()) return { name, kind: 'other' };
  return { name, kind: 'link', target: await readlink(path).catch(() => '?') };
};
