/**
 * Port behind LS, Glob and Grep: lists folders, finds files and searches text.
 *
 * All engines behave the same: they skip ignored and hidden files, never follow links, and report
 * results in the order of paths.
 */
import { SkeinError } from '../skein-error.js';

export interface FileSearch {
  /** Lists one directory by name, including hidden entries. Rejects with FileError or SearchError. */
  list(query: ListQuery): Promise<Listing>;
  /** Finds files below `root` whose path matches. Rejects with FileError or SearchError. */
  find(query: FindQuery): Promise<FoundFiles>;
  /** Finds matching lines below `root`. Rejects with FileError or SearchError. */
  grep(query: GrepQuery): Promise<SearchEnd>;
}

export interface ListQuery {
  readonly directory: string;
  readonly maxEntries: number;
  /** Globs of names to leave out. */
  readonly ignore: readonly string[];
}

export interface Listing {
  readonly entries: readonly ListedEntry[];
  /** Number of all entries, including entries above the limit. */
  readonly total: number;
}

export interface ListedEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  /** Bytes. Files only. */
  readonly size?: number;
  /** Target as written in the link. Links only. */
  readonly target?: string;
}

export interface SearchScope {
  /** Absolute path of a directory or a file. */
  readonly root: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

interface FindQuery extends SearchScope {
  readonly pattern: string;
  /** Maximum files in the result. The newest are returned. */
  readonly newest: number;
}

export interface FoundFiles {
  /** Paths, newest first, then by path. */
  readonly files: readonly string[];
  readonly total: number;
  readonly end: SearchEnd;
}

export interface GrepQuery extends SearchScope {
  /** Regular expression in ripgrep's dialect. */
  readonly pattern: string;
  /** `*.ts`: at any depth. `src/**`: from the root. `!*.test.ts`: all other files. */
  readonly glob?: string | undefined;
  /** File type of ripgrep, such as `ts` or `python`. */
  readonly type?: string | undefined;
  readonly mode: 'lines' | 'files' | 'count';
  /** Context lines before each match. Mode `lines` only, like `after`. */
  readonly before: number;
  readonly after: number;
  readonly ignoreCase: boolean;
  /** True if a match may span lines, and a dot matches a line break. */
  readonly multiline: boolean;
  /** Maximum hits of the whole search. */
  readonly maxHits: number;
  /**
   * True if a file may be searched. Called before the file is searched, because counts of excluded
   * files that depended on their contents would leak them.
   */
  accepts(path: string): boolean;
  /** Receives hits in the order of paths and lines. Returns false to end the search. */
  onHit(hit: SearchHit): boolean;
}

export interface SearchHit {
  /** Absolute path. */
  readonly path: string;
  /** Line number, starting at 1. Mode `lines` only. */
  readonly line?: number;
  /** At most MAX_HIT_LINE_LENGTH characters, then a note about the missing rest. */
  readonly text?: string;
  /** False for a line of context. */
  readonly isMatch?: boolean;
  /** Matching lines, or matches if `multiline`. Mode `count` only. */
  readonly count?: number;
}

export interface SearchEnd {
  /** `enough`: `onHit` ended the search. `entries`: the tree has more than MAX_SEARCH_ENTRIES. */
  readonly reason: 'complete' | 'enough' | 'timeout' | 'aborted' | 'entries';
  /** Files that `accepts` refused, among the first MAX_COUNTED_FILES. */
  readonly leftOut: number;
  /** True if there were more than MAX_COUNTED_FILES files. */
  readonly mayHaveLeftOutMore: boolean;
  /** Directories and files that could not be opened. */
  readonly unreadable: number;
  /** Files above MAX_SEARCHED_FILE_BYTES. */
  readonly tooLarge: number;
  /** Files on which the pattern took too long. */
  readonly tooSlow: number;
}

export const MAX_HIT_LINE_LENGTH = 2_000;
export const MAX_SEARCHED_FILE_BYTES = 64 * 1024 * 1024;
/** Maximum files counted with `accepts`, which takes longer than a search of the file. */
export const MAX_COUNTED_FILES = 2_000;
/** Maximum files and directories that one search visits. */
export const MAX_SEARCH_ENTRIES = 500_000;

/** Invalid query. The message says what to change. */
export class SearchError extends SkeinError {
  readonly code = 'search';
}
