import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { draftOf } from '../../../src/terminal/input/draft.js';
import { viewDraft } from '../../../src/terminal/input/draft-view.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';

describe('a draft on the screen', () => {
  test('follows its label and shows the cursor position', () => {
    const view = viewDraft('> ', { text: 'hello', at: 2 }, 80);
    expect(view).toEqual({ rows: ['> hello'], row: 0, column: 4 });
  });

  test('is wrapped, with an indent before continuation rows', () => {
    const view = viewDraft('> ', draftOf(`${'x'.repeat(50)}\nend`), 41);
    expect(view.rows).toEqual([`> ${'x'.repeat(38)}`, `  ${'x'.repeat(12)}`, '  end']);
    expect(view).toMatchObject({ row: 2, column: 5 });
  });

  test('counts wide characters as two columns', () => {
    expect(viewDraft('> ', draftOf('日本'), 80).column).toBe(6);
    expect(viewDraft('> ', draftOf('e\u0301'), 80).column).toBe(3);
  });

  test('spells out control characters', () => {
    expect(viewDraft('> ', draftOf('a\u001b[2J'), 80).rows).toEqual(['> a^[[2J']);
  });

  test('is cut to at most 10 rows around the cursor', () => {
    const text = Array.from({ length: 5_000 }, (_, line) => `line ${line}`).join('\n');
    const end = viewDraft('> ', draftOf(text), 80);
    expect(end.rows.at(-1)).toBe('  line 4999');
    const start = viewDraft('> ', { text, at: 0 }, 80);
    expect(start.rows[0]).toBe('> line 0');
    expect(start.rows.length).toBeLessThanOrEqual(10);
  });

  test('fits the terminal at any cursor position', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '日', '\n', ' ', '👩‍👩‍👧', '\u001b'),
      maxLength: 400,
    });
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 21, max: 100 }), (typed, at, columns) => {
        const view = viewDraft('> ', { text: typed, at: at % (typed.length + 1) }, columns);
        expect(view.rows.length).toBeLessThanOrEqual(10);
        expect(view.row).toBeGreaterThanOrEqual(0);
        expect(view.row).toBeLessThan(view.rows.length);
        for (const row of view.rows) expect(textWidth(row)).toBeLessThan(columns);
        expect(view.column).toBeLessThan(columns);
      }),
    );
  });
});
