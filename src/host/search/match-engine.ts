/** What looks into files: ripgrep where there is one, our own JavaScript otherwise. */
import { MAX_HIT_LINE_LENGTH } from '../../protocol/tools/file-search.js';
import { badPattern } from './regex/bad-pattern.js';

export interface MatchEngine {
  readonly name: 'ripgrep' | 'javascript';
  /** Makes a query ready. Rejects with a SearchError when the pattern cannot be used. */
  prepare(wanted: MatchQuery, signal: AbortSignal): Promise<PreparedMatch>;
}

export interface MatchQuery {
  readonly pattern: string;
  readonly mode: 'lines' | 'files' | 'count';
  readonly before: number;
  readonly after: number;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  /** No more hits than this are wanted, so none need be held. */
  readonly maxHits: number;
}

/**
 * Looks into `files`, given relative to `root`, one after another. It may begin before the first hit is
 * asked for, and ends early when the signal of `prepare` says so.
 */
export type PreparedMatch = (
  root: string,
  files: readonly string[],
  troubles: SkippedFiles,
) => AsyncIterable<RawHit>;

export interface RawHit {
  readonly file: string;
  readonly line?: number;
  readonly text?: string;
  readonly isMatch?: boolean;
  readonly count?: number;
}

/** Counted, never thrown: one bad file does not end a search. */
export interface SkippedFiles {
  unreadable: number;
  tooLarge: number;
  tooSlow: number;
}

/** What the engines would not take alike. In one line, \A would mean its start to one of them only. */
export const refuseIncompatible = ({ pattern, multiline }: MatchQuery): void => {
  if (pattern.includes('\0')) throw badPattern('it holds a NUL character');
  if (multiline || !/^(?:[^\\]|\\[^Az])*\\[Az]/.test(pattern)) return;
  throw badPattern('\\A and \\z need multiline: true; within a line use ^ and $');
};

/** A line as it is shown: without its ending, and not longer than a line may be. */
export const shownLine = (line: string): string => {
  const text = line.replace(/\r+$/, '');
  if (text.length <= MAX_HIT_LINE_LENGTH) return text;
  const head = text.slice(0, MAX_HIT_LINE_LENGTH);
  return `${/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head}… [the rest of this line is left out]`;
};
