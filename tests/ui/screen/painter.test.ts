import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Painter, type ScreenFrame } from '../../../src/ui/screen/painter.js';
import { paperTerminal } from '../../fakes/terminal/recording-terminal.js';

const setUp = (columns = 20, rows = 8) => {
  const size: { columns: number; rows: number } = { columns, rows };
  const paper = paperTerminal(columns, rows);
  return {
    size,
    paper,
    painter: new Painter(
      (text) => paper.write(text),
      () => size,
    ),
  };
};

const frame = (...lines: readonly string[]): ScreenFrame => ({ lines });

const line = fc
  .array(fc.constantFrom('a', 'b', ' ', '漢', '👩‍👩‍👧', 'é'), { maxLength: 10 })
  .map((characters) => characters.join('').trimEnd());
const anyFrame = fc.array(line, { minLength: 1, maxLength: 6 }).chain((lines) =>
  fc.record({
    lines: fc.constant(lines),
    cursor: fc.option(
      fc.record({ row: fc.nat({ max: lines.length - 1 }), column: fc.nat({ max: 15 }) }),
      { nil: undefined },
    ),
  }),
);

describe('a frame below what was said', () => {
  test('stands behind what is said next, which scrolls away above it', () => {
    const { paper, painter } = setUp();
    painter.paintInline(frame('one', 'two'), 'hello\n');
    painter.paintInline(frame('one', 'three'), 'world\n');
    expect(paper.screen()).toEqual(['hello', 'world', 'one', 'three']);
    for (let at = 1; at <= 6; at += 1) painter.paintInline(frame('one', 'three'), `line ${at}\n`);
    expect(paper.screen()).toEqual(
      [1, 2, 3, 4, 5, 6].map((at) => `line ${at}`).concat('one', 'three'),
    );
    expect(paper.history()).toEqual(['hello', 'world']);
  });

  test('looks as if it had been painted on an empty screen, however it came about', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyFrame, fc.constantFrom('', 'said\n', '漢字 and more\n')), {
          minLength: 1,
          maxLength: 12,
        }),
        (steps) => {
          const { paper, painter } = setUp();
          for (const [next, said] of steps) painter.paintInline(next, said);
          const last = steps.at(-1)?.[0] ?? frame();
          const said = steps.flatMap(([, text]) => (text === '' ? [] : [text.trimEnd()]));
          const shown = [...paper.history(), ...paper.screen()];
          const wanted = [...said, ...last.lines];
          while (wanted.at(-1) === '') wanted.pop();
          expect(shown).toEqual(wanted);
          expect(paper.cursor.isShown).toBe(last.cursor !== undefined);
          if (last.cursor === undefined) return;
          const top = paper.history().length;
          expect(paper.cursor).toMatchObject({
            row: said.length + last.cursor.row - top,
            column: last.cursor.column,
          });
        },
      ),
    );
  });

  test('stays where it is on a terminal that takes characters for wider than they are', () => {
    const paper = paperTerminal(10, 6, (character) => (character === 'é' ? 3 : 1));
    const painter = new Painter(
      (text) => paper.write(text),
      () => ({ columns: 10, rows: 6 }),
    );
    painter.paintInline(frame('éééééé', 'prompt', 'status'), 'said\n');
    painter.paintInline(frame('ééééééé', 'prompt!', 'status'));
    painter.paintInline(frame('éé', 'prompt', 'status 2'));
    expect(paper.screen()).toEqual(['said', 'éé', 'prompt', 'status 2']);
    expect([paper.history(), paper.wraps]).toEqual([[], true]);
  });

  test('is found again when the terminal has become so narrow that wide characters break', () => {
    const { paper, painter, size } = setUp(10, 8);
    painter.paintInline(
      { lines: ['漢漢漢漢漢', 'prompt'], cursor: { row: 1, column: 6 } },
      'said\n',
    );
    Object.assign(size, { columns: 5 });
    const before = paper.raw.length;
    painter.paintInline(frame('now'));
    // Two characters in each of two rows, a single character in a third row, and the prompt below.
    expect(paper.raw.slice(before)).toContain('\u001b[4A');
  });

  test('writes only the lines that differ', () => {
    const { paper, painter } = setUp();
    painter.paintInline(frame('first', 'second', 'third'));
    const before = paper.raw.length;
    painter.paintInline(frame('first', 'changed', 'third'));
    const written = paper.raw.slice(before);
    expect(written).toContain('changed');
    expect(written).not.toContain('first');
    expect(written).not.toContain('third');
  });

  test('writes nothing when nothing differs', () => {
    const { paper, painter } = setUp();
    painter.paintInline({ lines: ['one'], cursor: { row: 0, column: 1 } });
    const before = paper.raw;
    painter.paintInline({ lines: ['one'], cursor: { row: 0, column: 1 } });
    expect(paper.raw).toBe(before);
  });

  test('loses its top where there is not room for all of it', () => {
    const { paper, painter } = setUp(20, 4);
    painter.paintInline({ lines: ['1', '2', '3', '4', '5'], cursor: { row: 4, column: 0 } });
    expect(paper.screen()).toEqual(['3', '4', '5']);
    expect(paper.cursor.row).toBe(2);
  });

  test('is written anew on a terminal of another height', () => {
    const { paper, painter, size } = setUp();
    painter.paintInline(frame('one', 'two'));
    size.rows = 7;
    const before = paper.raw.length;
    painter.paintInline(frame('one', 'two'));
    expect(paper.raw.slice(before)).toContain('one');
    expect(paper.screen()).toEqual(['one', 'two']);
  });

  test('never clears the whole screen', () => {
    const { paper, painter } = setUp();
    painter.paintInline(frame('one', 'two'), 'said\n');
    painter.paintInline(frame('one'), 'said\n');
    painter.paintInline(frame('one', 'two', 'three'));
    expect(paper.raw).not.toContain('\u001b[2J');
    expect(paper.history()).toEqual([]);
  });

  test('is gone when the terminal is given back, and the cursor is there', () => {
    const { paper, painter } = setUp();
    painter.paintInline(frame('one', 'two'), 'said\n');
    painter.end();
    expect(paper.screen()).toEqual(['said']);
    expect(paper.cursor).toEqual({ row: 1, column: 0, isShown: true });
  });
});

describe('a frame of the whole screen', () => {
  test('leaves everything as it was before', () => {
    const { paper, painter } = setUp();
    painter.paintInline({ lines: ['one', 'two'], cursor: { row: 1, column: 2 } }, 'said\n');
    const before = { screen: paper.screen(), cursor: paper.cursor };
    painter.paintFullScreen(frame('all', 'of', 'it'));
    expect(paper.screen()).toEqual(['all', 'of', 'it']);
    expect(paper.isAlternate).toBe(true);
    painter.leaveFullScreen();
    expect({ screen: paper.screen(), cursor: paper.cursor }).toEqual(before);
    painter.paintInline(frame('one', 'three'));
    expect(paper.screen()).toEqual(['said', 'one', 'three']);
  });

  test('is written anew over what others wrote there, and what it hides is as it was', () => {
    const { paper, painter } = setUp();
    painter.paintInline({ lines: ['rule', 'prompt'], cursor: { row: 1, column: 2 } }, 'said\n');
    painter.paintFullScreen(frame('all'));
    paper.write('\u001b[1;1Hrubbish');
    painter.detach();
    painter.paintFullScreen(frame('all'));
    expect(paper.screen()).toEqual(['all']);
    painter.leaveFullScreen();
    painter.paintInline(frame('rule', 'prompt 2'));
    expect(paper.screen()).toEqual(['said', 'rule', 'prompt 2']);
  });

  test('cuts what is too long for the terminal, and gives its way of breaking lines back', () => {
    const paper = paperTerminal(10, 4, (character) => (character === 'é' ? 3 : 1));
    const painter = new Painter(
      (text) => paper.write(text),
      () => ({ columns: 10, rows: 4 }),
    );
    painter.paintFullScreen(frame('éééééééééé', 'second', 'third'));
    expect(paper.screen().slice(1)).toEqual(['second', 'third']);
    painter.end();
    expect(paper.wraps).toBe(true);
  });

  test('looks like the last one that was painted', () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { minLength: 1, maxLength: 8 }), (frames) => {
        const { paper, painter } = setUp();
        for (const next of frames) painter.paintFullScreen(next);
        const wanted = [...(frames.at(-1)?.lines ?? [])];
        while (wanted.at(-1) === '') wanted.pop();
        expect(paper.screen()).toEqual(wanted);
      }),
    );
  });

  test('is written anew for a terminal that was forgotten', () => {
    const { paper, painter } = setUp();
    painter.paintFullScreen(frame('one', 'two'));
    paper.write('\u001b[1;1Hrubbish');
    painter.invalidate();
    painter.paintFullScreen(frame('one', 'two'));
    expect(paper.screen()).toEqual(['one', 'two']);
  });

  test('is given back with the terminal', () => {
    const { paper, painter } = setUp();
    painter.paintInline(frame('one'), 'said\n');
    painter.paintFullScreen(frame('all'));
    painter.end();
    expect(paper.isAlternate).toBe(false);
    expect(paper.screen()).toEqual(['said']);
    expect(paper.cursor.isShown).toBe(true);
  });
});
