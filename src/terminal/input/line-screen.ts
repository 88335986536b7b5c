/** Line screen: output above, one editable line at the bottom of the terminal. */

import { textWidth } from '../text/text-width.js';
import type { DraftView } from './draft-view.js';

const CLEAR_BELOW = '\r\u001b[J';
const CLEAR_ALL = '\u001b[H\u001b[2J';

/** Display with output above and an editable line below. */
export interface LineDisplay {
  /** Writes output above the editable line. The text may end in the middle of a line. */
  write(text: string): void;
  /** Starts a new output line unless the last line has ended. */
  freshLine(): void;
  /** Replaces the editable line by output. */
  replace(text: string): void;
  clear(): void;
  /** Shows the editable line; undefined hides it. */
  show(view: DraftView | undefined): void;
}

export class LineScreen implements LineDisplay {
  private readonly out: (text: string) => void;
  private readonly columns: () => number;
  /** Editable line as shown; undefined while hidden. */
  private view: DraftView | undefined;
  private isLineStart = true;
  /** Output without a line end, which waits while the editable line is shown. */
  private buffered = '';

  constructor(out: (text: string) => void, columns: () => number) {
    this.out = out;
    this.columns = columns;
  }

  /** Writes output. While the editable line is shown, an unfinished output line is buffered. */
  write(text: string): void {
    if (this.view === undefined) {
      this.put(text);
      return;
    }
    this.buffered += text;
    const whole = this.buffered.lastIndexOf('\n') + 1;
    if (whole === 0 && this.wrapPoint() === 0) return;
    this.withoutLine(() => {
      this.release(whole);
      for (let end = this.wrapPoint(); end > 0; end = this.wrapPoint()) {
        if (!this.isLineStart) this.put('\n');
        this.release(end);
      }
    });
  }

  freshLine(): void {
    this.withoutLine(() => {
      this.release(this.buffered.length);
      if (!this.isLineStart) this.put('\n');
    });
  }

  replace(text: string): void {
    this.hide();
    this.release(this.buffered.length);
    if (!this.isLineStart) this.put('\n');
    this.put(text);
  }

  clear(): void {
    this.out(CLEAR_ALL);
    this.view = undefined;
    this.isLineStart = true;
  }

  /** Shows or hides the editable line in one write. */
  show(view: DraftView | undefined): void {
    const appended = appendedText(this.view, view);
    if (appended !== '') {
      this.view = view;
      this.out(appended);
      return;
    }
    let text = this.erasure();
    this.view = view;
    if (view === undefined) {
      this.out(text);
      this.release(this.buffered.length);
      return;
    }
    if (!this.isLineStart) text += '\n';
    this.isLineStart = true;
    this.out(text + drawn(view));
  }

  private withoutLine(action: () => void): void {
    const { view } = this;
    this.hide();
    action();
    if (view !== undefined) this.show(view);
  }

  private hide(): void {
    this.out(this.erasure());
    this.view = undefined;
  }

  private erasure(): string {
    return this.view === undefined ? '' : `${up(this.view.row)}${CLEAR_BELOW}`;
  }

  private put(text: string): void {
    if (text === '') return;
    this.out(text);
    this.isLineStart = text.endsWith('\n');
  }

  private release(length: number): void {
    const text = this.buffered.slice(0, length);
    this.buffered = this.buffered.slice(length);
    this.put(text);
  }

  /** Returns the length of the buffered text to print once it exceeds the width, up to the last space that fits; else 0. */
  private wrapPoint(): number {
    const columns = this.columns();
    if (this.buffered.length < columns) return 0;
    const space = this.buffered.lastIndexOf(' ', columns - 2);
    // A longer word, such as a URL, is not broken.
    return (
      (space > 0 ? space : this.buffered.indexOf(' ', columns - 1)) + 1 || this.buffered.length
    );
  }
}

/**
 * Returns the text that was appended at the end of the line, or '' if more has changed. Only the appended text is
 * written then, because a screen reader reads a redrawn line again.
 */
const appendedText = (before: DraftView | undefined, after: DraftView | undefined): string => {
  if (before === undefined || after === undefined || !isAtEnd(before) || !isAtEnd(after)) return '';
  const [old = '', fresh = ''] = [before.rows.at(-1), after.rows.at(-1)];
  const isSameAbove =
    before.rows.length === after.rows.length &&
    before.rows.slice(0, -1).every((row, index) => row === after.rows[index]);
  return isSameAbove && fresh.startsWith(old) ? fresh.slice(old.length) : '';
};

const isAtEnd = ({ rows, row, column }: DraftView): boolean =>
  row === rows.length - 1 && column === textWidth(rows.at(-1) ?? '');

const up = (rows: number): string => (rows > 0 ? `\u001b[${rows}A` : '');

const drawn = ({ rows, row, column }: DraftView): string => {
  const back = up(rows.length - 1 - row);
  return `${rows.join('\n')}${back}\r${column > 0 ? `\u001b[${column}C` : ''}`;
};
