import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../../src/terminal/terminal.js';
import { transcriptLines } from '../../../../src/ui/swarm/detail/transcript-lines.js';
import { TranscriptWindow } from '../../../../src/ui/swarm/detail/transcript-window.js';
import type { TranscriptItem } from '../../../../src/views/transcript/transcript-item.js';

const style = { unicode: true, paint: paintFor(false) };

const note = (text: string): TranscriptItem => ({ kind: 'note', text, at: 0 });
const notes = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => note(`${from + at}`));

const open = (items: readonly TranscriptItem[], left = 0) => {
  const window = new TranscriptWindow(style);
  const transcript = { items, left };
  const show = (rows = 4) => window.show(transcript, 40, rows).map((line) => line.slice(2));
  return { window, transcript, show };
};

describe('the transcript window', () => {
  test('shows the end and follows new items', () => {
    const { transcript, show, window } = open(notes(1, 9));
    expect(show()).toEqual(['6', '7', '8', '9']);
    transcript.items = notes(1, 10);
    expect(show()).toEqual(['7', '8', '9', '10']);
    expect(window.isAtEnd).toBe(true);
  });

  test('keeps its scroll position when items are added or dropped', () => {
    const { transcript, show, window } = open(notes(1, 9));
    show();
    window.scroll(3);
    expect([show(), window.isAtEnd]).toEqual([['3', '4', '5', '6'], false]);
    [transcript.items, transcript.left] = [notes(3, 20), 2];
    expect(show()).toEqual(['3', '4', '5', '6']);
    window.scroll(-1);
    expect(show()).toEqual(['4', '5', '6', '7']);
    [transcript.items, transcript.left] = [notes(10, 30), 9];
    expect(show()).toEqual([' earlier, not shown)', '10', '11', '12']);
    window.toEnd();
    expect(show()).toEqual(['27', '28', '29', '30']);
  });

  test('scrolls no further than the start and the end', () => {
    const { show, window } = open(notes(1, 9));
    window.toStart();
    expect(show()).toEqual(['1', '2', '3', '4']);
    window.scroll(5);
    expect(show()).toEqual(['1', '2', '3', '4']);
    window.scroll(-100);
    expect([show(), window.isAtEnd]).toEqual([['6', '7', '8', '9'], true]);
  });

  test('shows empty and short transcripts', () => {
    expect(open([]).show()).toEqual([]);
    expect(open([{ kind: 'text', text: ' ', at: 0 }]).show()).toEqual([]);
    const { show, window } = open(notes(1, 2));
    window.scroll(7);
    expect(show()).toEqual(['1', '2']);
  });

  test('formats only the shown items, and each of them once', () => {
    let made = 0;
    const paint = paintFor(false);
    const dim = (text: string) => {
      made += 1;
      return paint.dim(text);
    };
    const window = new TranscriptWindow({ unicode: true, paint: { ...paint, dim } });
    const items = notes(1, 1_000);
    window.show({ items, left: 0 }, 40, 10);
    expect(made).toBeLessThan(15);
    const before = made;
    window.show({ items, left: 0 }, 40, 10);
    expect(made).toBe(before);
    window.show({ items: [...items, note('new')], left: 0 }, 40, 10);
    expect(made).toBe(before + 1);
    window.show({ items, left: 0 }, 30, 10);
    expect(made).toBeLessThan(before + 20);
  });

  test('shows a part of all lines at any scroll position', () => {
    const anyItem = fc.constantFrom(
      note('a note'),
      { kind: 'text', text: 'some words\nand more', at: 0 } as const,
      { kind: 'text', text: '', at: 0 } as const,
      { kind: 'prompt', text: 'Do it.', at: 0 } as const,
    );
    const moves = fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(anyItem), fc.nat(2), fc.nat(7), moves, (made, left, height, steps) => {
        const items = made.map((item) => ({ ...item }));
        const rows = height + 1;
        const head = left > 0 ? [`(${left} earlier, not shown)`] : [];
        const all = [
          ...head,
          ...items.flatMap((item) => transcriptLines(item, { ...style, columns: 40 })),
        ];
        const window = new TranscriptWindow(style);
        const last = Math.max(0, all.length - rows);
        let top = last;
        for (const step of [0, ...steps]) {
          window.scroll(step);
          top = Math.min(last, Math.max(0, top - step));
          expect(window.show({ items, left }, 40, rows)).toEqual(all.slice(top, top + rows));
          expect(window.isAtEnd).toBe(top === last);
        }
      }),
      { numRuns: 150 },
    );
  });
});
