/**
 * Painter: writes frames to a terminal with few bytes.
 *
 * Only changed lines are written, the screen is never cleared as a whole, and each change is one synchronized write. An
 * inline frame stands below the scroll-back, and further output scrolls away above it. A full-screen frame uses the
 * alternate screen, so leaving it restores the terminal.
 */
import { stripVTControlCharacters } from 'node:util';
import { charactersOf, characterWidth } from '../../terminal/text/text-width.js';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Cursor {
  readonly row: number;
  readonly column: number;
}

/** Lines of at most as many columns as the terminal has. */
export interface ScreenFrame {
  readonly lines: readonly string[];
  /** Position of the text cursor. Default: hidden. */
  readonly cursor?: Cursor | undefined;
}

const ESC = '\u001b[';
/** Synchronized output. Terminals without support ignore the codes. */
const BEGIN = `${ESC}?2026h`;
const END = `${ESC}?2026l`;
const HIDE = `${ESC}?25l`;
const SHOW = `${ESC}?25h`;
const ALTERNATE_ON = `${ESC}?1049h`;
const ALTERNATE_OFF = `${ESC}?1049l`;
/**
 * Without wrapping, a line that is too long for a terminal is cut at the margin. Terminals disagree about the width of
 * some characters, and a wrapped line would shift all lines below it.
 */
const WRAP_OFF = `${ESC}?7l`;
const WRAP_ON = `${ESC}?7h`;
const CLEAR_LINE = `${ESC}2K`;
/**
 * Clears from the first column of a line to the end of the screen. In two steps, because tmux saves a screen that is
 * cleared from its first cell to the scroll-back.
 */
const CLEAR_BELOW = `\u001b7${CLEAR_LINE}${ESC}1B${ESC}J\u001b8`;
const PLAIN = `${ESC}0m`;

const EMPTY_FRAME: ScreenFrame = { lines: [] };

export class Painter {
  private readonly write: (text: string) => void;
  private readonly size: () => Size;
  /** Inline frame on the terminal. */
  private inline: ScreenFrame = EMPTY_FRAME;
  /** Terminal size for which the inline frame was written. */
  private written: Size;
  /** Full-screen frame; undefined while the alternate screen is off. */
  private fullScreen: ScreenFrame | undefined;
  private isCursorShown = true;

  constructor(write: (text: string) => void, size: () => Size) {
    this.write = write;
    this.size = size;
    this.written = size();
  }

  get isFullScreen(): boolean {
    return this.fullScreen !== undefined;
  }

  /** Writes `output`, in whole lines, to the scroll-back and the frame below it. */
  paintInline(frame: ScreenFrame, output = ''): void {
    const { columns, rows } = this.size();
    const next = this.fitted(frame, rows - 1);
    const isSame = output === '' && this.written.columns === columns && this.written.rows === rows;
    if (isSame && sameFrame(this.inline, next)) return;
    this.send(
      isSame && next.lines.length >= this.inline.lines.length
        ? this.changes(next)
        : `${this.toTop()}${CLEAR_BELOW}${inRows(output)}${unwrapped(next.lines.join('\r\n'))}`,
      next,
    );
    this.inline = next;
    this.written = { columns, rows };
  }

  /** Writes a full-screen frame; the first call enters the alternate screen. */
  paintFullScreen(frame: ScreenFrame): void {
    const { rows } = this.size();
    const next = this.fitted(frame, rows);
    const entering = this.fullScreen === undefined ? `${ALTERNATE_ON}${WRAP_OFF}` : '';
    const shown = this.fullScreen?.lines ?? [];
    const rowsOf = Array.from({ length: Math.max(rows, shown.length) }, (_, at) => at);
    const changed = rowsOf
      .filter((at) => entering !== '' || (shown[at] ?? '') !== (next.lines[at] ?? ''))
      .map((at) => `${ESC}${at + 1};1H${CLEAR_LINE}${ended(next.lines[at] ?? '')}`);
    this.fullScreen = next;
    const { cursor } = next;
    const end = cursor === undefined ? '' : `${ESC}${cursor.row + 1};${cursor.column + 1}H${SHOW}`;
    if (changed.length === 0 && entering === '' && cursor === undefined) return;
    this.write(`${BEGIN}${entering}${HIDE}${changed.join('')}${end}${END}`);
  }

  /** Leaves the alternate screen. */
  leaveFullScreen(): void {
    if (this.fullScreen === undefined) return;
    this.fullScreen = undefined;
    this.write(`${WRAP_ON}${ALTERNATE_OFF}${this.isCursorShown ? SHOW : HIDE}`);
  }

  /** Forgets the contents of the alternate screen, so that the next frame is written completely. */
  invalidate(): void {
    if (this.fullScreen !== undefined)
      this.fullScreen = { lines: Array(this.size().rows).fill('\0') };
  }

  /**
   * Gives up the inline frame after other programs wrote to the terminal; the next frame is written below. On the
   * alternate screen the inline frame is still intact, so only the full-screen frame is written again.
   */
  detach(): void {
    if (this.fullScreen === undefined) this.inline = EMPTY_FRAME;
    else this.invalidate();
  }

  /** Clears the screen. The next inline frame starts at its top; the scroll-back stays. */
  clear(): void {
    this.write(`${ESC}H${ESC}2J`);
    this.inline = EMPTY_FRAME;
  }

  /** Removes all frames and restores the terminal. */
  end(): void {
    this.leaveFullScreen();
    this.write(`${this.toTop()}${CLEAR_BELOW}${SHOW}`);
    this.isCursorShown = true;
    this.inline = EMPTY_FRAME;
  }

  /** Drops the first lines of a frame that is too tall, because the editable line is at the bottom. */
  private fitted({ lines, cursor }: ScreenFrame, maxRows: number): ScreenFrame {
    const over = Math.max(0, lines.length - Math.max(1, maxRows));
    return {
      lines: lines.slice(over),
      cursor: cursor && { ...cursor, row: Math.max(0, cursor.row - over) },
    };
  }

  private send(text: string, { lines, cursor }: ScreenFrame): void {
    const isShown = cursor !== undefined;
    const back = cursor === undefined ? '' : placed(lines.length, cursor);
    const hide = this.isCursorShown ? HIDE : '';
    this.isCursorShown = isShown;
    this.write(`${BEGIN}${hide}${ended(text)}${back}${isShown ? SHOW : ''}${END}`);
  }

  /** Moves from the cursor to the first column of the first line. */
  private toTop(): string {
    const { columns } = this.size();
    const { lines, cursor } = this.inline;
    const at = cursor ?? { row: Math.max(0, lines.length - 1), column: 0 };
    if (columns >= this.written.columns) return `\r${up(at.row)}`;
    // A terminal that was made narrower has wrapped longer lines.
    const above = lines.slice(0, at.row).reduce((sum, line) => sum + rowsOf(line, columns), 0);
    const last = lines[at.row] ?? '';
    const within = rowsOf(cursor === undefined ? last : upTo(last, cursor.column), columns) - 1;
    return `\r${up(above + within)}`;
  }

  /** Returns the changed lines, from top to bottom. */
  private changes({ lines }: ScreenFrame): string {
    const shown = this.inline.lines;
    const parts = [this.toTop()];
    let row = 0;
    for (const [at, line] of lines.entries()) {
      if (line === shown[at]) continue;
      // Below the old frame the terminal may have to scroll, and only a line feed scrolls.
      const isNew = at >= shown.length;
      parts.push(isNew ? '\r\n'.repeat(at - row) : down(at - row));
      parts.push(`\r${CLEAR_LINE}${line}`);
      row = at;
    }
    parts.push(down(lines.length - 1 - row));
    return unwrapped(parts.join(''));
  }
}

/** Resets the colour at the end of text that sets a colour. */
const ended = (text: string): string => {
  const hasColour = text.split(ESC).some((part, at) => at > 0 && /^[\d;]*m/.test(part));
  return hasColour && !text.endsWith(PLAIN) ? `${text}${PLAIN}` : text;
};

const sameFrame = (a: ScreenFrame, b: ScreenFrame): boolean =>
  a.lines.length === b.lines.length &&
  a.lines.every((line, at) => line === b.lines[at]) &&
  a.cursor?.row === b.cursor?.row &&
  a.cursor?.column === b.cursor?.column;

const unwrapped = (text: string): string => (text === '' ? '' : `${WRAP_OFF}${text}${WRAP_ON}`);

/** Adds carriage returns, because in raw mode a line feed stays in its column. */
const inRows = (text: string): string => text.replaceAll('\n', '\r\n');

/** Returns the rows that a wrapped line takes. A wide character is never split between two rows. */
const rowsOf = (line: string, columns: number): number => {
  let [rows, taken] = [1, 0];
  for (const character of charactersOf(stripVTControlCharacters(line))) {
    const width = characterWidth(character);
    if (taken > 0 && taken + width > columns) [rows, taken] = [rows + 1, 0];
    taken += width;
  }
  return rows;
};

/** Returns the start of a line up to `column`, padded with blanks. */
const upTo = (line: string, column: number): string => {
  let [text, taken] = ['', 0];
  for (const character of charactersOf(stripVTControlCharacters(line))) {
    if (taken >= column) return text;
    text += character;
    taken += characterWidth(character);
  }
  return text.padEnd(text.length + column - taken);
};

const up = (rows: number): string => (rows > 0 ? `${ESC}${rows}A` : '');
const down = (rows: number): string => (rows > 0 ? `${ESC}${rows}B` : '');

/** Moves from the last line of a frame to its text cursor. */
const placed = (height: number, { row, column }: Cursor): string =>
  `${up(height - 1 - row)}\r${column > 0 ? `${ESC}${column}C` : ''}`;
