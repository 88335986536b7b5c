import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Painter, type ScreenFrame } from '../../../src/ui/screen/painter.js';
import { recordingTerminal } from '../../fakes/terminal/recording-terminal.js';

const setUp = (columns = 20, rows = 8) => {
  const size: { columns: number; rows: number } = { columns, rows };
  const terminal = recordingTerminal(columns, rows);
  return {
    size,
    terminal,
    painter: new Painter(
      (text) => terminal.write(text),
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

describe('an inline frame', () => {
  test('stays below new output, which scrolls away above the frame', () => {
    const { terminal, painter } = setUp();
    painter.paintInline(frame('one', 'two'), 'hello\n');
    painter.paintInline(frame('one', 'three'), 'world\n');
    expect(terminal.screen()).toEqual(['hello', 'world', 'one', 'three']);
    for (let at = 1; at <= 6; at += 1) painter.paintInline(frame('one', 'three'), `line ${at}\n`);
    expect(terminal.screen()).toEqual(
      [1, 2, 3, 4, 5, 6].map((at) => `line ${at}`).concat('one', 'three'),
    );
    expect(terminal.history()).toEqual(['hello', 'world']);
  });

  test('looks as if painted on an empty screen after any earlier frames', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyFrame, fc.constantFrom('', 'said\n', '漢字 and more\n')), {
          minLength: 1,
          maxLength: 12,
        }),
        (steps) => {
          const { terminal, painter } = setUp();
          for (const [next, output] of steps) painter.paintInline(next, output);
          const last = steps.at(-1)?.[0] ?? frame();
          const output = steps.flatMap(([, text]) => (text === '' ? [] : [text.trimEnd()]));
          const shown = [...terminal.history(), ...terminal.screen()];
          const expected = [...output, ...last.lines];
          while (expected.at(-1) === '') expected.pop();
          expect(shown).toEqual(expected);
          expect(terminal.cursor.isShown).toBe(last.cursor !== undefined);
          if (last.cursor === undefined) return;
          const top = terminal.history().length;
          expect(terminal.cursor).toMatchObject({
            row: output.length + last.cursor.row - top,
            column: last.cursor.column,
          });
        },
      ),
    );
  });

  test('keeps its position on a terminal that shows characters wider than expected', () => {
    const terminal = recordingTerminal(10, 6, (character) => (character === 'é' ? 3 : 1));
    const painter = new Painter(
      (text) => terminal.write(text),
      () => ({ columns: 10, rows: 6 }),
    );
    painter.paintInline(frame('éééééé', 'prompt', 'status'), 'said\n');
    painter.paintInline(frame('ééééééé', 'prompt!', 'status'));
    painter.paintInline(frame('éé', 'prompt', 'status 2'));
    expect(terminal.screen()).toEqual(['said', 'éé', 'prompt', 'status 2']);
    expect([terminal.history(), terminal.wraps]).toEqual([[], true]);
  });

  test('is located again after a resize wraps its wide characters', () => {
    const { terminal, painter, size } = setUp(10, 8);
    painter.paintInline(
      { lines: ['漢漢漢漢漢', 'prompt'], cursor: { row: 1, column: 6 } },
      'said\n',
    );
    Object.assign(size, { columns: 5 });
    const before = terminal.raw.length;
    painter.paintInline(frame('now'));
    // Two characters in each of two rows, a single character in a third row, and the prompt below.
    expect(terminal.raw.slice(before)).toContain('\u001b[4A');
  });

  test('writes only changed lines', () => {
    const { terminal, painter } = setUp();
    painter.paintInline(frame('first', 'second', 'third'));
    const before = terminal.raw.length;
    painter.paintInline(frame('first', 'changed', 'third'));
    const written = terminal.raw.slice(before);
    expect(written).toContain('changed');
    expect(written).not.toContain('first');
    expect(written).not.toContain('third');
  });

  test('writes no output if it is unchanged', () => {
    const { terminal, painter } = setUp();
    painter.paintInline({ lines: ['one'], cursor: { row: 0, column: 1 } });
    const before = terminal.raw;
    painter.paintInline({ lines: ['one'], cursor: { row: 0, column: 1 } });
    expect(terminal.raw).toBe(before);
  });

  test('loses its top rows if it is too tall', () => {
    const { terminal, painter } = setUp(20, 4);
    painter.paintInline({ lines: ['1', '2', '3', '4', '5'], cursor: { row: 4, column: 0 } });
    expect(terminal.screen()).toEqual(['3', '4', '5']);
    expect(terminal.cursor.row).toBe(2);
  });

  test('is rewritten after a change of the terminal height', () => {
    const { terminal, painter, size } = setUp();
    painter.paintInline(frame('one', 'two'));
    size.rows = 7;
    const before = terminal.raw.length;
    painter.paintInline(frame('one', 'two'));
    expect(terminal.raw.slice(before)).toContain('one');
    expect(terminal.screen()).toEqual(['one', 'two']);
  });

  test('never clears the whole screen', () => {
    const { terminal, painter } = setUp();
    painter.paintInline(frame('one', 'two'), 'said\n');
    painter.paintInline(frame('one'), 'said\n');
    painter.paintInline(frame('one', 'two', 'three'));
    expect(terminal.raw).not.toContain('\u001b[2J');
    expect(terminal.history()).toEqual([]);
  });

  test('is removed at the end, and the cursor is shown', () => {
    const { terminal, painter } = setUp();
    painter.paintInline(frame('one', 'two'), 'said\n');
    painter.end();
    expect(terminal.screen()).toEqual(['said']);
    expect(terminal.cursor).toEqual({ row: 1, column: 0, isShown: true });
  });
});

describe('a full-screen frame', () => {
  test('restores the previous screen when it closes', () => {
    const { terminal, painter } = setUp();
    painter.paintInline({ lines: ['one', 'two'], cursor: { row: 1, column: 2 } }, 'said\n');
    const before = { screen: terminal.screen(), cursor: terminal.cursor };
    painter.paintFullScreen(frame('all', 'of', 'it'));
    expect(terminal.screen()).toEqual(['all', 'of', 'it']);
    expect(terminal.isAlternate).toBe(true);
    painter.leaveFullScreen();
    expect({ screen: terminal.screen(), cursor: terminal.cursor }).toEqual(before);
    painter.paintInline(frame('one', 'three'));
    expect(terminal.screen()).toEqual(['said', 'one', 'three']);
  });

  test('is rewritten after a detach, and the hidden inline frame is kept', () => {
    const { terminal, painter } = setUp();
    painter.paintInline({ lines: ['rule', 'prompt'], cursor: { row: 1, column: 2 } }, 'said\n');
    painter.paintFullScreen(frame('all'));
    terminal.write('\u001b[1;1Hrubbish');
    painter.detach();
    painter.paintFullScreen(frame('all'));
    expect(terminal.screen()).toEqual(['all']);
    painter.leaveFullScreen();
    painter.paintInline(frame('rule', 'prompt 2'));
    expect(terminal.screen()).toEqual(['said', 'rule', 'prompt 2']);
  });

  test('cuts lines that are too long and restores line wrapping at the end', () => {
    const terminal = recordingTerminal(10, 4, (character) => (character === 'é' ? 3 : 1));
    const painter = new Painter(
      (text) => terminal.write(text),
      () => ({ columns: 10, rows: 4 }),
    );
    painter.paintFullScreen(frame('éééééééééé', 'second', 'third'));
    expect(terminal.screen().slice(1)).toEqual(['second', 'third']);
    painter.end();
    expect(terminal.wraps).toBe(true);
  });

  test('looks like the last painted frame', () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { minLength: 1, maxLength: 8 }), (frames) => {
        const { terminal, painter } = setUp();
        for (const next of frames) painter.paintFullScreen(next);
        const expected = [...(frames.at(-1)?.lines ?? [])];
        while (expected.at(-1) === '') expected.pop();
        expect(terminal.screen()).toEqual(expected);
      }),
    );
  });

  test('is rewritten after invalidate()', () => {
    const { terminal, painter } = setUp();
    painter.paintFullScreen(frame('one', 'two'));
    terminal.write('\u001b[1;1Hrubbish');
    painter.invalidate();
    painter.paintFullScreen(frame('one', 'two'));
    expect(terminal.screen()).toEqual(['one', 'two']);
  });

  test('is closed at the end, and the terminal is restored', () => {
    const { terminal, painter } = setUp();
    painter.paintInline(frame('one'), 'said\n');
    painter.paintFullScreen(frame('all'));
    painter.end();
    expect(terminal.isAlternate).toBe(false);
    expect(terminal.screen()).toEqual(['said']);
    expect(terminal.cursor.isShown).toBe(true);
  });
});
