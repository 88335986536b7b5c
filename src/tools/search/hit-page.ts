/** Hit page: a page of search hits in the format of grep, with limits on lines and characters. */
import type { SearchHit } from '../../protocol/tools/file-search.js';
import { displayPath } from './search-notes.js';

export type OutputMode = 'content' | 'files_with_matches' | 'count';

interface PageOptions {
  readonly offset: number;
  readonly limit: number;
  /** Directory that shown paths are relative to. */
  readonly cwd: string;
  readonly numbers: boolean;
  /** True to put `--` between groups of lines, if context lines are shown. */
  readonly separates: boolean;
}

const MAX_CHARACTERS = 60_000;

export class HitPage {
  shown = 0;
  private readonly mode: OutputMode;
  private readonly options: PageOptions;
  private readonly rows: string[] = [];
  private passed = 0;
  private characters = 0;
  private hasMore = false;
  private last: SearchHit | undefined;
  private matches = 0;

  constructor(mode: OutputMode, options: PageOptions) {
    this.mode = mode;
    this.options = options;
  }

  get text(): string {
    return this.rows.join('\n');
  }

  /** Adds a hit. Returns false if the page is full, and records that there are more hits. */
  add(hit: SearchHit): boolean {
    const { offset, limit } = this.options;
    if (this.passed < offset) {
      this.passed += 1;
      this.last = hit;
      return true;
    }
    const row = this.row(hit);
    const isFull = this.characters + row.length > MAX_CHARACTERS && this.shown > 0;
    if (this.shown === limit || isFull) {
      this.hasMore = true;
      return false;
    }
    if (this.shown > 0 && this.isApart(hit)) this.rows.push('--');
    this.rows.push(row);
    this.characters += row.length + 1;
    this.shown += 1;
    this.matches += hit.count ?? 0;
    this.last = hit;
    return true;
  }

  notes(): readonly string[] {
    const { offset } = this.options;
    const unit = this.mode === 'content' ? 'lines' : 'files';
    if (this.hasMore) {
      const next = offset + this.shown;
      return [`There are more ${unit}. Continue with offset ${next}, or narrow the search.`];
    }
    if (this.mode !== 'count' || this.shown === 0) return [];
    return [`${this.matches} in ${this.shown} ${this.shown === 1 ? 'file' : 'files'}.`];
  }

  /** Returns the text of an empty page. */
  nothing(root: string): string {
    return this.passed > 0
      ? `There are only ${this.passed} results, so there is nothing at offset ${this.options.offset}.`
      : `Nothing below ${root} matches.`;
  }

  private row({ path, line, text, isMatch, count }: SearchHit): string {
    const { cwd, numbers } = this.options;
    const shown = displayPath(path, cwd);
    if (this.mode === 'files_with_matches') return shown;
    if (this.mode === 'count') return `${shown}:${count ?? 0}`;
    const mark = isMatch === false ? '-' : ':';
    return `${shown}${mark}${numbers ? `${line ?? 0}${mark}` : ''}${text ?? ''}`;
  }

  /** True if the hit does not follow the last line and context lines are shown. */
  private isApart(hit: SearchHit): boolean {
    const last = this.last;
    if (this.mode !== 'content' || last === undefined) return false;
    const follows = last.path === hit.path && (last.line ?? 0) + 1 === hit.line;
    return !follows && this.options.separates;
  }
}
