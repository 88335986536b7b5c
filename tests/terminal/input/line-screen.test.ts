import { describe, expect, test } from 'vitest';
import { draftOf } from '../../../src/terminal/input/draft.js';
import { viewDraft } from '../../../src/terminal/input/draft-view.js';
import { LineScreen } from '../../../src/terminal/input/line-screen.js';

const PIECES = new RegExp(`${'\u001b'}\\[(\\d*)([A-Z])|[^]`, 'g');

/** Minimal terminal emulator: text, line breaks and the control sequences of a LineScreen. */
const emulator = () => {
  const rows = [''];
  let [row, column] = [0, 0];
  const put = (character: string) => {
    const line = (rows[row] ?? '').padEnd(column);
    rows[row] = line.slice(0, column) + character + line.slice(column + 1);
    column += 1;
  };
  const control = (code: string, count: number) => {
    if (code === 'A') row -= count;
    else if (code === 'C') column += count;
    else if (code === 'J') {
      rows[row] = (rows[row] ?? '').slice(0, column);
      rows.splice(row + 1);
    } else throw new Error(`unknown sequence ${code}`);
    if (row < 0) throw new Error('above the first row');
  };
  const write = (text: string) => {
    for (const [piece, count, code] of text.matchAll(PIECES)) {
      if (code !== undefined) control(code, Number(count || 1));
      else if (piece === '\n') {
        row += 1;
        column = 0;
        rows[row] ??= '';
      } else if (piece === '\r') column = 0;
      else put(piece);
    }
  };
  return {
    write,
    text: () => rows.map((line) => line.trimEnd()).join('\n'),
    cursor: () => [row, column],
  };
};

const screenOf = (columns = 40) => {
  const terminal = emulator();
  const screen = new LineScreen(terminal.write, () => columns);
  const type = (text: string, at = text.length) =>
    screen.show(viewDraft('> ', { ...draftOf(text), at }, columns));
  return { screen, type, ...terminal };
};

describe('a screen with the input line at the bottom', () => {
  test('shows text at once while there is no input line', () => {
    const { screen, text } = screenOf();
    screen.write('Hel');
    expect(text()).toBe('Hel');
    screen.write('lo.\n');
    expect(text()).toBe('Hello.\n');
  });

  test('keeps the input line below all output', () => {
    const { screen, type, text, cursor } = screenOf();
    type('my draft', 3);
    screen.write('One.\nTwo.\n');
    expect(text()).toBe('One.\nTwo.\n> my draft');
    expect(cursor()).toEqual([2, 5]);
  });

  test('holds back an incomplete output line until it ends or the input line closes', () => {
    const { screen, type, text } = screenOf();
    screen.write('Begun, ');
    type('draft');
    screen.write('and ended');
    expect(text()).toBe('Begun,\n> draft');
    screen.write('.\nNext');
    expect(text()).toBe('Begun,\nand ended.\n> draft');
    screen.show(undefined);
    expect(text()).toBe('Begun,\nand ended.\nNext');
    screen.write('!');
    expect(text()).toBe('Begun,\nand ended.\nNext!');
  });

  test('breaks a long output line at a space instead of holding it back', () => {
    const { screen, type, text } = screenOf(20);
    type('d');
    screen.write('word '.repeat(5));
    expect(text()).toBe('word word word\n> d');
    screen.write('word '.repeat(6));
    expect(text()).toBe('word word word\nword word word\nword word word\n> d');
  });

  test('never breaks a word', () => {
    const { screen, type, text } = screenOf(20);
    type('d');
    screen.write(`See ${'x'.repeat(30)} there, or elsewhere.`);
    expect(text()).toBe(`See\n${'x'.repeat(30)}\nthere, or\n> d`);
    screen.show(undefined);
    expect(text()).toBe(`See\n${'x'.repeat(30)}\nthere, or\nelsewhere.`);
  });

  test('appends characters typed at the end without a redraw', () => {
    let written = '';
    const screen = new LineScreen(
      (text) => {
        written += text;
      },
      () => 30,
    );
    for (const text of ['g', 'go', 'go o']) screen.show(viewDraft('> ', draftOf(text), 30));
    expect(written).toBe('> g\r\u001b[3Co o');
  });

  test('redraws an input of several rows in place', () => {
    const { screen, type, text, cursor } = screenOf(30);
    type('one\ntwo\nthree');
    type('one\ntwo', 2);
    expect(text()).toBe('> one\n  two');
    expect(cursor()).toEqual([0, 4]);
    screen.write('said\n');
    expect(text()).toBe('said\n> one\n  two');
  });

  test('replaces the input line with the submitted text', () => {
    const { screen, type, text } = screenOf();
    screen.write('half');
    type('sent');
    screen.replace('> sent\n');
    expect(text()).toBe('half\n> sent\n');
    screen.write('answer');
    screen.freshLine();
    screen.freshLine();
    expect(text()).toBe('half\n> sent\nanswer\n');
  });
});
