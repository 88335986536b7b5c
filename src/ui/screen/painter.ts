/**
 * Puts frames on a terminal with as few bytes as it takes: only lines that differ are written again,
 * nothing on the screen is cleared as a whole, and each change arrives in one piece.
 *
 * A frame stands either below everything that was said (`inline`), where what is said next scrolls away
 * above it, or on the alternate screen (`whole`), which gives the terminal back as it was.
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
export interface Frame {
  readonly lines: readonly string[];
  /** Where something is typed; the cursor is hidden without it. */
  readonly cursor?: Cursor | undefined;
}

const ESC = '\u001b[';
/** Terminals that do not know these pass them over. */
const BEGIN = `${ESC}?2026h`;
const END = `${ESC}?2026l`;
const HIDE = `${ESC}?25l`;
const SHOW = `${ESC}?25h`;
const ALTERNATE_ON = `${ESC}?1049h`;
const ALTERNATE_OFF = `${ESC}?1049l`;
/**
 * Terminals do not agree on how wide every character is. A line of a frame that is too long for one of them is
 * cut at its margin: if it went on in the next row, nobody would know any more where the others stand.
 */
const WRAP_OFF = `${ESC}?7l`;
const WRAP_ON = `${ESC}?7h`;
const CLEAR_LINE = `${ESC}2K`;
/**
 * From the first column of a line to the end of the screen. Not at once: what is cleared from the very first
 * cell on is kept by tmux as if it had been said.
 */
const CLEAR_BELOW = `\u001b7${CLEAR_LINE}${ESC}1B${ESC}J\u001b8`;
const PLAIN = `${ESC}0m`;

const NOTHING: Frame = { lines: [] };

export class Painter {
  private readonly write: (text: string) => void;
  private readonly size: () => Size;
  /** What stands there, and where its cursor is. */
  private inline: Frame = NOTHING;
  /** The terminal that it was written for. */
  private written: Size;
  /** What the alternate screen shows; undefined while it is away. */
  private whole: Frame | undefined;
  private isCursorShown = true;

  constructor(write: (text: string) => void, size: () => Size) {
    this.write = write;
    this.size = size;
    this.written = size();
  }

  get isWhole(): boolean {
    return this.whole !== undefined;
  }

  /** Text for the scroll-back, in whole lines, and the frame that stands below it from now on. */
  paintInline(frame: Frame, said = ''): void {
    const { columns, rows } = this.size();
    const next = this.fitted(frame, rows - 1);
    const isSame = said === '' && this.written.columns === columns && this.written.rows === rows;
    if (isSame && sameFrame(this.inline, next)) return;
    this.send(
      isSame && next.lines.length >= this.inline.lines.length
        ? this.changes(next)
        : `${this.toTop()}${CLEAR_BELOW}${inRows(said)}${unwrapped(next.lines.join('\r\n'))}`,
      next,
    );
    this.inline = next;
    this.written = { columns, rows };
  }

  /** The first one enters the alternate screen. */
  paintWhole(frame: Frame): void {
    const { rows } = this.size();
    const next = this.fitted(frame, rows);
    const entering = this.whole === undefined ? `${ALTERNATE_ON}${WRAP_OFF}` : '';
    const shown = this.whole?.lines ?? [];
    const rowsOf = Array.from({ length: Math.max(rows, shown.length) }, (_, at) => at);
    const changed = rowsOf
      .filter((at) => entering !== '' || (shown[at] ?? '') !== (next.lines[at] ?? ''))
      .map((at) => `${ESC}${at + 1};1H${CLEAR_LINE}${ended(next.lines[at] ?? '')}`);
    this.whole = next;
    const { cursor } = next;
    const end = cursor === undefined ? '' : `${ESC}${cursor.row + 1};${cursor.column + 1}H${SHOW}`;
    if (changed.length === 0 && entering === '' && cursor === undefined) return;
    this.write(`${BEGIN}${entering}${HIDE}${changed.join('')}${end}${END}`);
  }

  /** Back to what stood there before, as it was. */
  leaveWhole(): void {
    if (this.whole === undefined) return;
    this.whole = undefined;
    this.write(`${WRAP_ON}${ALTERNATE_OFF}${this.isCursorShown ? SHOW : HIDE}`);
  }

  /** Whatever the terminal shows now is not known any more, and is written again. */
  forget(): void {
    if (this.whole !== undefined) this.whole = { lines: Array(this.size().rows).fill('\0') };
  }

  /**
   * Others have written since: what stood there is theirs, and the frame comes below it. What the alternate
   * screen hides is as it was.
   */
  leaveBehind(): void {
    if (this.whole === undefined) this.inline = NOTHING;
    else this.forget();
  }

  /** An empty screen, with the frame on top of it from now on; what scrolled away stays. */
  clear(): void {
    this.write(`${ESC}H${ESC}2J`);
    this.inline = NOTHING;
  }

  /** Gives the terminal back: nothing is left of the frames. */
  end(): void {
    this.leaveWhole();
    this.write(`${this.toTop()}${CLEAR_BELOW}${SHOW}`);
    this.isCursorShown = true;
    this.inline = NOTHING;
  }

  /** What is on top gives way: what is typed stands at the bottom. */
  private fitted({ lines, cursor }: Frame, most: number): Frame {
    const over = Math.max(0, lines.length - Math.max(1, most));
    return {
      lines: lines.slice(over),
      cursor: cursor && { ...cursor, row: Math.max(0, cursor.row - over) },
    };
  }

  private send(text: string, { lines, cursor }: Frame): void {
    const isShown = cursor !== undefined;
    const back = cursor === undefined ? '' : placed(lines.length, cursor);
    const hide = this.isCursorShown ? HIDE : '';
    this.isCursorShown = isShown;
    this.write(`${BEGIN}${hide}${ended(text)}${back}${isShown ? SHOW : ''}${END}`);
  }

  /** From the cursor to the first column of the first line. */
  private toTop(): string {
    const { columns } = this.size();
    const { lines, cursor } = this.inline;
    const at = cursor ?? { row: Math.max(0, lines.length - 1), column: 0 };
    if (columns >= this.written.columns) return `\r${up(at.row)}`;
    // A terminal that has become narrower has broken the lines that were longer.
    const above = lines.slice(0, at.row).reduce((sum, line) => sum + rowsOf(line, columns), 0);
    const last = lines[at.row] ?? '';
    const within = rowsOf(cursor === undefined ? last : upTo(last, cursor.column), columns) - 1;
    return `\r${up(above + within)}`;
  }

  /** Only what differs, from the top to the bottom. */
  private changes({ lines }: Frame): string {
    const shown = this.inline.lines;
    const parts = [this.toTop()];
    let row = 0;
    for (const [at, line] of lines.entries()) {
      if (line === shown[at]) continue;
      // Behind the old frame the terminal may have to scroll: only a line feed does that.
      const isNew = at >= shown.length;
      parts.push(isNew ? '\r\n'.repeat(at - row) : down(at - row));
      parts.push(`\r${CLEAR_LINE}${line}`);
      row = at;
    }
    parts.push(down(lines.length - 1 - row));
    return unwrapped(parts.join(''));
  }
}

/** No colour goes on behind it; where there was none, none is spoken of. */
const ended = (text: string): string => {
  const hasColour = text.split(ESC).some((part, at) => at > 0 && /^[\d;]*m/.test(part));
  return hasColour && !text.endsWith(PLAIN) ? `${text}${PLAIN}` : text;
};

const sameFrame = (one: Frame, other: Frame): boolean =>
  one.lines.length === other.lines.length &&
  one.lines.every((line, at) => line === other.lines[at]) &&
  one.cursor?.row === other.cursor?.row &&
  one.cursor?.column === other.cursor?.column;

const unwrapped = (text: string): string => (text === '' ? '' : `${WRAP_OFF}${text}${WRAP_ON}`);

/** In raw mode a line feed alone does not go back to the first column. */
const inRows = (text: string): string => text.replaceAll('\n', '\r\n');

/** Rows that a line takes where there are so many columns: half of a wide character is in none of them. */
const rowsOf = (line: string, columns: number): number => {
  let [rows, taken] = [1, 0];
  for (const character of charactersOf(stripVTControlCharacters(line))) {
    const width = characterWidth(character);
    if (taken > 0 && taken + width > columns) [rows, taken] = [rows + 1, 0];
    taken += width;
  }
  return rows;
};

/** What stands in front of a column; where the line is shorter, blanks do. */
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

/** From the last line of a frame to where something is typed. */
const placed = (height: number, { row, column }: Cursor): string =>
  `${up(height - 1 - row)}\r${column > 0 ? `${ESC}${column}C` : ''}`;
