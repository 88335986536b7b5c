/**
 * Looking for files and into them: the port behind LS, Glob and Grep.
 *
 * One behaviour, whichever engine does the work: files that a .gitignore names and hidden ones are
 * passed over, links are never followed, and everything comes in the order of paths.
 */
import { SkeinError } from '../errors.js';

export interface FileSearch {
  /** The entries of one directory by name, hidden ones too. Rejects with a FileError or a SearchError. */
  list(query: ListQuery): Promise<Listing>;
  /** Files below `root` whose path matches. Rejects with a FileError or a SearchError. */
  find(query: FindQuery): Promise<FoundFiles>;
  /** Lines below `root` that match. Rejects with a FileError or a SearchError. */
  grep(query: GrepQuery): Promise<SearchEnd>;
}

export interface ListQuery {
  readonly directory: string;
  readonly most: number;
  /** Globs of names that are not wanted. */
  readonly ignore: readonly string[];
}

export interface Listing {
  readonly entries: readonly ListedEntry[];
  /** How many there are, shown or not. */
  readonly total: number;
}

export interface ListedEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  /** Of a file. */
  readonly size?: number;
  /** Of a link: where it says it leads. */
  readonly target?: string;
}

export interface SearchPlace {
  /** Absolute: a directory, or one file. */
  readonly root: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface FindQuery extends SearchPlace {
  readonly pattern: string;
  /** How many of the newest to keep. */
  readonly newest: number;
}

export interface FoundFiles {
  /** Newest first; equally old ones by path. */
  readonly files: readonly string[];
  readonly total: number;
  readonly end: SearchEnd;
}

export interface GrepQuery extends SearchPlace {
  /** A regular expression in the dialect of ripgrep. */
  readonly pattern: string;
  /** `*.ts` anywhere below, `src/**` from the root, `!*.test.ts` all but these. */
  readonly glob?: string | undefined;
  /** A kind of file by its name, such as `ts` or `python`. */
  readonly type?: string | undefined;
  readonly mode: 'lines' | 'files' | 'count';
  /** Lines around each match; for `lines` only. */
  readonly before: number;
  readonly after: number;
  readonly ignoreCase: boolean;
  /** A match may run over several lines, and a dot matches a line break. */
  readonly multiline: boolean;
  /** Hits after so many are not wanted. */
  readonly most: number;
  /**
   * Whether a file may be looked into at all. Whatever is counted or said of files that may not is
   * known before they are searched: told after, it would give away what is in them, bit by bit.
   */
  accepts(path: string): boolean;
  /** In the order of paths and lines. False when no more is wanted. */
  onHit(hit: SearchHit): boolean;
}

export interface SearchHit {
  /** Absolute. */
  readonly path: string;
  /** Counted from 1; for `lines`. */
  readonly line?: number;
  /** At most LONGEST_HIT_LINE characters, and a note of what is missing. */
  readonly text?: string;
  /** False for a line of context. */
  readonly isMatch?: boolean;
  /** Lines that match, or matches when they may run over several lines; for `count`. */
  readonly count?: number;
}

export interface SearchEnd {
  /** `enough`: the asker wanted no more. `entries`: the tree is larger than a search may see. */
  readonly reason: 'complete' | 'enough' | 'timeout' | 'aborted' | 'entries';
  /** Files that were not accepted, among the first MOST_COUNTED_FILES. */
  readonly leftOut: number;
  /** There were more files than that. */
  readonly mayHaveLeftOutMore: boolean;
  /** Directories and files that the system would not open. */
  readonly unreadable: number;
  /** Files that are too large to be searched. */
  readonly tooLarge: number;
  /** Files on which the pattern takes too long. */
  readonly tooSlow: number;
}

export const LONGEST_HIT_LINE = 2_000;
/** Larger files are not looked into. */
export const LARGEST_SEARCHED_FILE = 64 * 1024 * 1024;
/** To ask about a file takes longer than to search it, so there is a limit to asking for the count. */
export const MOST_COUNTED_FILES = 2_000;
/** Files and directories that one search may see. */
export const MOST_SEARCH_ENTRIES = 500_000;

/** A query that cannot be answered as it is. The message says what to change. */
export class SearchError extends SkeinError {
  readonly code = 'search';
}
