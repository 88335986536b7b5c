/** Match engine: searches the contents of files, with ripgrep or in JavaScript. */
import { MAX_HIT_LINE_LENGTH } from '../../protocol/tools/file-search.js';
import { badPattern } from './regex/bad-pattern.js';

export interface MatchEngine {
  readonly name: 'ripgrep' | 'javascript';
  /** Rejects with SearchError if the pattern cannot be used. */
  prepare(query: MatchQuery, signal: AbortSignal): Promise<PreparedMatch>;
}

export interface MatchQuery {
  readonly pattern: string;
  readonly mode: 'lines' | 'files' | 'count';
  readonly before: number;
  readonly after: number;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  /** Maximum number of hits to collect. */
  readonly maxHits: number;
}

/**
 * Searches `files`, relative to `root`, in order. May start before the first hit is read, and stops when the
 * signal of `prepare` aborts.
 */
export type PreparedMatch = (
  root: string,
  files: readonly string[],
  skipped: SkippedFiles,
) => AsyncIterable<RawHit>;

export interface RawHit {
  readonly file: string;
  readonly line?: number;
  readonly text?: string;
  readonly isMatch?: boolean;
  readonly count?: number;
}

/** Numbers of skipped files by reason. An unreadable file does not end a search. */
export interface SkippedFiles {
  unreadable: number;
  tooLarge: number;
  tooSlow: number;
}

/** Throws SearchError for patterns that the engines treat differently, such as \A in single-line mode. */
export const refuseIncompatible = ({ pattern, multiline }: MatchQuery): void => {
  if (pattern.includes('\0')) throw badPattern('it holds a NUL character');
  if (multiline || !/^(?:[^\\]|\\[^Az])*\\[Az]/.test(pattern)) return;
  throw badPattern('\\A and \\z need multiline: true; within a line use ^ and $');
};

/** Returns the line without its ending, cut to `MAX_HIT_LINE_LENGTH`. */
export const shownLine = (line: string): string => {
  const text = line.replace(/\r+$/, '');
  if (text.length <= MAX_HIT_LINE_LENGTH) return text;
  const head = text.slice(0, MAX_HIT_LINE_LENGTH);
  return `${/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head}… [the rest of this line is left out]`;
};
