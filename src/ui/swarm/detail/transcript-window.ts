/**
 * The part of a transcript that is on the screen: its end, or where somebody has scrolled to, which stays
 * while more comes. Lines are made once for each piece and width, and only of pieces that are shown.
 */
import type { OpenTranscript, TranscriptItem } from '../swarm-source.js';
import { itemLines, type TranscriptPaper } from './transcript-lines.js';

type Transcript = Pick<OpenTranscript, 'items' | 'left'>;

/** A line of a piece; pieces are counted from the very first, also those that are gone. */
interface Place {
  readonly at: number;
  readonly line: number;
}

export class TranscriptWindow {
  private readonly style: Omit<TranscriptPaper, 'columns'>;
  private lines = new WeakMap<TranscriptItem, readonly string[]>();
  private columns = 0;
  /** The lowest line that is shown; undefined for the end, whatever comes. */
  private lowest: Place | undefined;
  /** Lines to go up, once it is known what there is. */
  private wanted = 0;

  constructor(style: Omit<TranscriptPaper, 'columns'>) {
    this.style = style;
  }

  get isAtEnd(): boolean {
    return this.lowest === undefined && this.wanted <= 0;
  }

  /** Up with more than nothing, down with less. */
  scroll(lines: number): void {
    this.wanted += lines;
  }

  toEnd(): void {
    this.lowest = undefined;
    this.wanted = 0;
  }

  toStart(): void {
    this.wanted = Number.POSITIVE_INFINITY;
  }

  /** At most so many lines; fewer where there are no more. */
  show(transcript: Transcript, columns: number, rows: number): readonly string[] {
    if (columns !== this.columns) this.lines = new WeakMap();
    this.columns = columns;
    const { wanted } = this;
    this.wanted = 0;
    const end = this.nearest(transcript, Number.POSITIVE_INFINITY, -1);
    const start = this.nearest(transcript, -1, 1);
    if (end === undefined || start === undefined) return [];
    const from = this.found(transcript) ?? end;
    const moved =
      wanted > 0 ? this.up(transcript, from, wanted) : this.down(transcript, from, -wanted);
    const first = { at: start.at, line: 0 };
    const isTooHigh = this.linesBetween(transcript, first, moved, rows) < rows;
    const lowest = isTooHigh ? this.down(transcript, first, rows - 1) : moved;
    const isEnd = lowest.at === end.at && lowest.line >= end.line;
    this.lowest = isEnd ? undefined : lowest;
    return this.above(transcript, lowest, rows);
  }

  /** What was the lowest line may be gone, or shorter by now. */
  private found(transcript: Transcript): Place | undefined {
    const { lowest } = this;
    if (lowest === undefined) return undefined;
    const near = this.nearest(transcript, lowest.at - 1, 1);
    if (near === undefined || near.at !== lowest.at) return near && { at: near.at, line: 0 };
    return { at: near.at, line: Math.min(near.line, lowest.line) };
  }

  /** The last line of the next piece that has any, behind this one or before it. */
  private nearest(transcript: Transcript, from: number, step: 1 | -1): Place | undefined {
    const { left, items } = transcript;
    const last = left + items.length - 1;
    // A line at the top says what is not shown.
    const first = Math.max(0, left - 1);
    const begin = step === 1 ? Math.max(first, from + 1) : Math.min(last, from - 1);
    for (let at = begin; at >= first && at <= last; at += step) {
      const many = this.linesAt(transcript, at).length;
      if (many > 0) return { at, line: many - 1 };
    }
    return undefined;
  }

  private up(transcript: Transcript, from: Place, lines: number): Place {
    let place = from;
    let left = lines;
    while (left > place.line) {
      const before = this.nearest(transcript, place.at, -1);
      if (before === undefined) return { ...place, line: 0 };
      left -= place.line + 1;
      place = before;
    }
    return { ...place, line: place.line - left };
  }

  private down(transcript: Transcript, from: Place, lines: number): Place {
    let place = from;
    let left = lines;
    for (;;) {
      const below = this.linesAt(transcript, place.at).length - 1 - place.line;
      if (left <= below) return { ...place, line: place.line + left };
      const after = this.nearest(transcript, place.at, 1);
      if (after === undefined) return { ...place, line: place.line + below };
      left -= below + 1;
      place = { at: after.at, line: 0 };
    }
  }

  /** As far as it matters. */
  private linesBetween(transcript: Transcript, first: Place, last: Place, most: number): number {
    let many = last.line + 1;
    for (let at = last.at - 1; at >= first.at && many < most; at -= 1) {
      many += this.linesAt(transcript, at).length;
    }
    return many;
  }

  private above(transcript: Transcript, lowest: Place, rows: number): readonly string[] {
    const parts: (readonly string[])[] = [
      this.linesAt(transcript, lowest.at).slice(0, lowest.line + 1),
    ];
    let many = lowest.line + 1;
    for (let at = lowest.at - 1; at >= transcript.left - 1 && at >= 0 && many < rows; at -= 1) {
      const lines = this.linesAt(transcript, at);
      parts.push(lines);
      many += lines.length;
    }
    return parts.toReversed().flat().slice(-rows);
  }

  private linesAt({ items, left }: Transcript, at: number): readonly string[] {
    const item = items[at - left];
    if (item === undefined) return at === left - 1 ? this.leftOut(left) : [];
    const known = this.lines.get(item);
    if (known !== undefined) return known;
    const lines = itemLines(item, { ...this.style, columns: this.columns });
    this.lines.set(item, lines);
    return lines;
  }

  private leftOut(left: number): readonly string[] {
    const text = `(${left} earlier, not shown)`;
    return [this.style.paint.dim(text.slice(0, this.columns))];
  }
}
