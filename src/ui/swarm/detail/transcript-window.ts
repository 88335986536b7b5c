/**
 * Transcript window: the visible part of a transcript.
 *
 * It follows the end, or stays at a scroll position while the transcript grows. Lines are formatted once per item and width, and only for visible items.
 */
import type { OpenTranscript, TranscriptItem } from '../../../views/transcript/transcript-item.js';
import { type TranscriptLineOptions, transcriptLines } from './transcript-lines.js';

type Transcript = Pick<OpenTranscript, 'items' | 'left'>;

/** Line of an item. Items are counted from the first of the transcript, dropped items included. */
interface LinePosition {
  readonly at: number;
  readonly line: number;
}

export class TranscriptWindow {
  private readonly style: Omit<TranscriptLineOptions, 'columns'>;
  private lines = new WeakMap<TranscriptItem, readonly string[]>();
  private columns = 0;
  /** Lowest visible line; undefined follows the end. */
  private lowest: LinePosition | undefined;
  /** Lines to scroll up at the next `show`; negative scrolls down. */
  private pendingScroll = 0;

  constructor(style: Omit<TranscriptLineOptions, 'columns'>) {
    this.style = style;
  }

  get isAtEnd(): boolean {
    return this.lowest === undefined && this.pendingScroll <= 0;
  }

  /** Scrolls up by `lines`; negative scrolls down. */
  scroll(lines: number): void {
    this.pendingScroll += lines;
  }

  toEnd(): void {
    this.lowest = undefined;
    this.pendingScroll = 0;
  }

  toStart(): void {
    this.pendingScroll = Number.POSITIVE_INFINITY;
  }

  /** Returns the visible lines, at most `rows`. */
  show(transcript: Transcript, columns: number, rows: number): readonly string[] {
    if (columns !== this.columns) this.lines = new WeakMap();
    this.columns = columns;
    const { pendingScroll } = this;
    this.pendingScroll = 0;
    const end = this.nearest(transcript, Number.POSITIVE_INFINITY, -1);
    const start = this.nearest(transcript, -1, 1);
    if (end === undefined || start === undefined) return [];
    const from = this.currentLowest(transcript) ?? end;
    const moved =
      pendingScroll > 0
        ? this.up(transcript, from, pendingScroll)
        : this.down(transcript, from, -pendingScroll);
    const first = { at: start.at, line: 0 };
    const isTooHigh = this.linesBetween(transcript, first, moved, rows) < rows;
    const lowest = isTooHigh ? this.down(transcript, first, rows - 1) : moved;
    const isEnd = lowest.at === end.at && lowest.line >= end.line;
    this.lowest = isEnd ? undefined : lowest;
    return this.above(transcript, lowest, rows);
  }

  /** Returns the lowest visible line. Its item may have been dropped or become shorter since. */
  private currentLowest(transcript: Transcript): LinePosition | undefined {
    const { lowest } = this;
    if (lowest === undefined) return undefined;
    const nearest = this.nearest(transcript, lowest.at - 1, 1);
    if (nearest === undefined || nearest.at !== lowest.at)
      return nearest && { at: nearest.at, line: 0 };
    return { at: nearest.at, line: Math.min(nearest.line, lowest.line) };
  }

  /** Returns the last line of the nearest item with lines, after (`step` 1) or before `from`; undefined if there is none. */
  private nearest(transcript: Transcript, from: number, step: 1 | -1): LinePosition | undefined {
    const { left, items } = transcript;
    const last = left + items.length - 1;
    // A line above the first item counts the dropped items.
    const first = Math.max(0, left - 1);
    const begin = step === 1 ? Math.max(first, from + 1) : Math.min(last, from - 1);
    for (let at = begin; at >= first && at <= last; at += step) {
      const count = this.linesAt(transcript, at).length;
      if (count > 0) return { at, line: count - 1 };
    }
    return undefined;
  }

  private up(transcript: Transcript, from: LinePosition, lines: number): LinePosition {
    let position = from;
    let left = lines;
    while (left > position.line) {
      const before = this.nearest(transcript, position.at, -1);
      if (before === undefined) return { ...position, line: 0 };
      left -= position.line + 1;
      position = before;
    }
    return { ...position, line: position.line - left };
  }

  private down(transcript: Transcript, from: LinePosition, lines: number): LinePosition {
    let position = from;
    let left = lines;
    for (;;) {
      const below = this.linesAt(transcript, position.at).length - 1 - position.line;
      if (left <= below) return { ...position, line: position.line + left };
      const after = this.nearest(transcript, position.at, 1);
      if (after === undefined) return { ...position, line: position.line + below };
      left -= below + 1;
      position = { at: after.at, line: 0 };
    }
  }

  /** Counts lines, and stops at about `maxLines`. */
  private linesBetween(
    transcript: Transcript,
    first: LinePosition,
    last: LinePosition,
    maxLines: number,
  ): number {
    let count = last.line + 1;
    for (let at = last.at - 1; at >= first.at && count < maxLines; at -= 1) {
      count += this.linesAt(transcript, at).length;
    }
    return count;
  }

  private above(transcript: Transcript, lowest: LinePosition, rows: number): readonly string[] {
    const parts: (readonly string[])[] = [
      this.linesAt(transcript, lowest.at).slice(0, lowest.line + 1),
    ];
    let count = lowest.line + 1;
    for (let at = lowest.at - 1; at >= transcript.left - 1 && at >= 0 && count < rows; at -= 1) {
      const lines = this.linesAt(transcript, at);
      parts.push(lines);
      count += lines.length;
    }
    return parts.toReversed().flat().slice(-rows);
  }

  private linesAt({ items, left }: Transcript, at: number): readonly string[] {
    const item = items[at - left];
    if (item === undefined) return at === left - 1 ? this.leftOut(left) : [];
    const cached = this.lines.get(item);
    if (cached !== undefined) return cached;
    const lines = transcriptLines(item, { ...this.style, columns: this.columns });
    this.lines.set(item, lines);
    return lines;
  }

  private leftOut(left: number): readonly string[] {
    const text = `(${left} earlier, not shown)`;
    return [this.style.paint.dim(text.slice(0, this.columns))];
  }
}
