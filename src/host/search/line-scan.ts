/** Line scan of a text: collects the matching lines and their context lines. */
import { type MatchQuery, shownLine } from './match-engine.js';

export interface Row {
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
}

export class LineScan {
  readonly rows: Row[] = [];
  /** Number of matching lines, or of matches in multiline mode. */
  count = 0;
  private readonly text: string;
  private readonly regex: RegExp;
  private readonly query: MatchQuery;
  private start = 0;
  private line = 0;
  /** Start offsets of preceding lines that are not in `rows` yet. */
  private earlier: number[] = [];
  private after = 0;
  private match: { readonly start: number; readonly end: number } | undefined;

  constructor(text: string, regex: RegExp, query: MatchQuery) {
    this.text = text;
    this.regex = regex;
    this.query = query;
    regex.lastIndex = 0;
  }

  /** Scans the next lines. Returns false at the end of the text or when there are enough rows. */
  advance(lines: number): boolean {
    // Not in the constructor, because only `advance` runs under the caller's time-out.
    if (this.line === 0 && this.query.multiline) this.nextMatch();
    for (let done = 0; done < lines; done += 1) {
      if (this.start >= this.text.length || this.hasEnough()) return false;
      const newline = this.text.indexOf('\n', this.start);
      const end = newline === -1 ? this.text.length : newline;
      this.line += 1;
      const isMatch = this.query.multiline
        ? this.isTouched(this.start, end + 1)
        : this.isMatched(end);
      if (this.query.mode === 'lines') this.keep(end, isMatch);
      this.start = end + 1;
    }
    return true;
  }

  private hasEnough(): boolean {
    const { mode, maxHits } = this.query;
    return mode === 'files' ? this.count > 0 : this.rows.length >= maxHits;
  }

  private isMatched(end: number): boolean {
    const hasReturn = this.text[end - 1] === '\r' && end > this.start;
    this.regex.lastIndex = 0;
    const isMatch = this.regex.test(this.text.slice(this.start, hasReturn ? end - 1 : end));
    if (isMatch) this.count += 1;
    return isMatch;
  }

  /** True if a match overlaps the line. */
  private isTouched(start: number, end: number): boolean {
    while (this.match !== undefined && this.match.end <= start) this.nextMatch();
    let isMatch = false;
    while (this.match !== undefined && this.match.start < end) {
      isMatch = true;
      if (this.match.end > end) break;
      this.nextMatch();
    }
    return isMatch;
  }

  private nextMatch(): void {
    const result = this.regex.exec(this.text);
    // An empty match at the end of the text is on no line.
    if (result === null || result.index >= this.text.length) {
      this.match = undefined;
      return;
    }
    this.count += 1;
    const end = result.index + Math.max(1, result[0].length);
    if (result[0] === '') this.regex.lastIndex += 1;
    this.match = { start: result.index, end };
  }

  private keep(end: number, isMatch: boolean): void {
    const { before, after } = this.query;
    if (isMatch) {
      const first = this.line - this.earlier.length;
      for (const [index, start] of this.earlier.entries()) {
        this.show(first + index, start, this.text.indexOf('\n', start), false);
      }
      this.earlier = [];
      this.show(this.line, this.start, end, true);
      this.after = after;
    } else if (this.after > 0) {
      this.after -= 1;
      this.show(this.line, this.start, end, false);
    } else if (before > 0) {
      this.earlier.push(this.start);
      if (this.earlier.length > before) this.earlier.shift();
    }
  }

  private show(line: number, start: number, end: number, isMatch: boolean): void {
    this.rows.push({ line, text: shownLine(this.text.slice(start, end)), isMatch });
  }
}
