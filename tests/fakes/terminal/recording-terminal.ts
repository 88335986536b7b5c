/**
 * Terminal made of text: executes the written sequences and returns the visible text. Throws
 * for an unknown sequence, so that no sequence is sent that only some terminals understand.
 */
import { charactersOf, characterWidth } from '../../../src/terminal/text/text-width.js';

export interface RecordingTerminal {
  write(text: string): void;
  /** The visible lines, without trailing blanks and without empty lines at the end. */
  screen(): readonly string[];
  /** Lines that have scrolled off the screen. */
  history(): readonly string[];
  readonly cursor: { readonly row: number; readonly column: number; readonly isShown: boolean };
  readonly isAlternate: boolean;
  /** True if a long line continues in the next line. */
  readonly wraps: boolean;
  /** All output, with escape sequences. */
  readonly raw: string;
}

const ESC = '\u001b';
const SEQUENCE = new RegExp(`^${ESC}(?:\\[(\\??[\\d;]*)([A-Za-z])|([78]))`);

/** Text up to the next control character. */
const PLAIN = /^[^\p{Cc}]+/u;

/** `widthOf`: width of a character. Some terminals show other characters as wide. */
export const recordingTerminal = (
  columns: number,
  rows: number,
  widthOf = characterWidth,
): RecordingTerminal => {
  const blank = () => Array.from({ length: rows }, () => [] as string[]);
  let lines = blank();
  let main: { lines: string[][]; row: number; column: number } | undefined;
  const gone: string[] = [];
  let [row, column, isShown, wraps] = [0, 0, true, true];
  let saved = { row: 0, column: 0 };
  let raw = '';
  const text = (line: readonly string[]) =>
    Array.from({ length: line.length }, (_, at) => line[at] ?? ' ')
      .join('')
      .trimEnd();
  const feed = () => {
    if (row < rows - 1) {
      row += 1;
      return;
    }
    const [first = []] = lines.splice(0, 1);
    if (main === undefined) gone.push(text(first));
    lines.push([]);
  };
  const put = (character: string) => {
    const width = widthOf(character);
    if (column + width > columns) {
      if (!wraps) return;
      column = 0;
      feed();
    }
    const line = lines[row] ?? [];
    line[column] = character;
    for (let at = 1; at < width; at += 1) line[column + at] = '';
    column += width;
  };
  const execute = (parameters: string, letter: string) => {
    const [first = 1, second = 1] = parameters.split(';').map((it) => Number(it) || 1);
    if (letter === 'A') row = Math.max(0, row - first);
    else if (letter === 'B') row = Math.min(rows - 1, row + first);
    else if (letter === 'C') column = Math.min(columns - 1, column + first);
    else if (letter === 'H') [row, column] = [first - 1, second - 1];
    else if (letter === 'K' && parameters === '2') lines[row] = [];
    else if (letter === 'J' && parameters === '') {
      // Like tmux: clearing from the first cell moves the lines to the history.
      if (row === 0 && column === 0) gone.push(...lines.map(text).filter((line) => line !== ''));
      lines = lines.map((line, at) => (at < row ? line : at > row ? [] : line.slice(0, column)));
    } else if (letter === 'J' && parameters === '2') lines = blank();
    else if (letter === 'm') return;
    else throw new Error(`Unknown: ESC [ ${parameters} ${letter}`);
  };
  const switchMode = (mode: string, isOn: boolean) => {
    if (mode === '25') isShown = isOn;
    else if (mode === '7') wraps = isOn;
    else if (mode === '1049' && isOn) {
      main = { lines, row, column };
      [lines, row, column] = [blank(), 0, 0];
    } else if (mode === '1049' && main !== undefined) {
      ({ lines, row, column } = main);
      main = undefined;
    } else if (mode !== '2026') throw new Error(`Unknown mode ${mode}`);
  };
  return {
    write(written) {
      raw += written;
      let rest = written;
      while (rest !== '') {
        const sequence = SEQUENCE.exec(rest);
        if (sequence !== null) {
          const [whole, parameters = '', letter = '', digit] = sequence;
          if (digit === '7') saved = { row, column };
          else if (digit === '8') ({ row, column } = saved);
          else if (parameters.startsWith('?')) switchMode(parameters.slice(1), letter === 'h');
          else execute(parameters, letter);
          rest = rest.slice(whole.length);
          continue;
        }
        const character = rest.charAt(0);
        if (character === '\n') feed();
        else if (character === '\r') column = 0;
        else if (character < ' ') throw new Error(`Unknown: ${JSON.stringify(character)}`);
        const plain = PLAIN.exec(rest)?.[0] ?? '';
        for (const shown of charactersOf(plain)) put(shown);
        rest = rest.slice(plain.length || 1);
      }
    },
    screen() {
      const shown = lines.map(text);
      return shown.slice(0, shown.findLastIndex((line) => line !== '') + 1);
    },
    history: () => gone,
    get cursor() {
      return { row, column: Math.min(column, columns - 1), isShown };
    },
    get wraps() {
      return wraps;
    },
    get isAlternate() {
      return main !== undefined;
    },
    get raw() {
      return raw;
    },
  };
};
