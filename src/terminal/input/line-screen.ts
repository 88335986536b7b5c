/** A terminal with one editable line at the bottom, and above it everything that is said. */

import { textWidth } from '../text/text-width.js';
import type { DraftView } from './draft-view.js';

const CLEAR_BELOW = '\r\u001b[J';
const CLEAR_ALL = '\u001b[H\u001b[2J';

/** Where lines are said, and one is typed below them. */
export interface LineDisplay {
  /** Above the line that is typed; it may end in the middle of a line. */
  write(text: string): void;
  /** What comes next starts on a line of its own. */
  freshLine(): void;
  /** In place of the line that is typed, which is gone afterwards. */
  replace(text: string): void;
  clear(): void;
  /** The line that is typed; undefined when there is none. */
  show(view: DraftView | undefined): void;
}

export class LineScreen implements LineDisplay {
  private readonly out: (text: string) => void;
  private readonly columns: () => number;
  /** The line as it is shown; undefined while there is none. */
  private view: DraftView | undefined;
  private isLineStart = true;
  /** Text that waits for the end of its line, while another is being typed below it. */
  private held = '';

  constructor(out: (text: string) => void, columns: () => number) {
    this.out = out;
    this.columns = columns;
  }

  /** Above the line. What does not fill a line yet appears at once only while nobody types. */
  write(text: string): void {
    if (this.view === undefined) {
      this.put(text);
      return;
    }
    this.held += text;
    const whole = this.held.lastIndexOf('\n') + 1;
    if (whole === 0 && this.wrapPoint() === 0) return;
    this.aside(() => {
      this.release(whole);
      for (let end = this.wrapPoint(); end > 0; end = this.wrapPoint()) {
        if (!this.isLineStart) this.put('\n');
        this.release(end);
      }
    });
  }

  freshLine(): void {
    this.aside(() => {
      this.release(this.held.length);
      if (!this.isLineStart) this.put('\n');
    });
  }

  /** In place of the line, which is gone afterwards. */
  replace(text: string): void {
    this.hide();
    this.release(this.held.length);
    if (!this.isLineStart) this.put('\n');
    this.put(text);
  }

  clear(): void {
    this.out(CLEAR_ALL);
    this.view = undefined;
    this.isLineStart = true;
  }

  /** Shows the line, or takes it away, in one write. */
  show(view: DraftView | undefined): void {
    const typed = typedOn(this.view, view);
    if (typed !== '') {
      this.view = view;
      this.out(typed);
      return;
    }
    let text = this.erasure();
    this.view = view;
    if (view === undefined) {
      this.out(text);
      this.release(this.held.length);
      return;
    }
    if (!this.isLineStart) text += '\n';
    this.isLineStart = true;
    this.out(text + drawn(view));
  }

  private aside(work: () => void): void {
    const { view } = this;
    this.hide();
    work();
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
    const text = this.held.slice(0, length);
    this.held = this.held.slice(length);
    this.put(text);
  }

  /** A line that has grown over the width is let go at the last space that still fits. */
  private wrapPoint(): number {
    const columns = this.columns();
    if (this.held.length < columns) return 0;
    const space = this.held.lastIndexOf(' ', columns - 2);
    // A word longer than that stays whole, as an address must.
    return (space > 0 ? space : this.held.indexOf(' ', columns - 1)) + 1 || this.held.length;
  }
}

/** What was added at the end: a line that is drawn anew is read out anew by a screen reader. */
const typedOn = (before: DraftView | undefined, after: DraftView | undefined): string => {
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
