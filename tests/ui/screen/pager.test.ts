import { describe, expect, test } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { Pager, type PagerOptions } from '../../../src/ui/screen/pager.js';
import { laidOut } from '../../fakes/terminal/laid-out.js';

const SIZE = { columns: 40, rows: 8 };

const setUp = (count: number, options: Partial<PagerOptions> = {}) => {
  let closed = 0;
  const pages = {
    title: 'A text',
    lines: () => Array.from({ length: count }, (_, at) => `line ${at + 1}`),
  };
  const pager = new Pager(pages, {
    paint: paintFor(false),
    size: () => SIZE,
    ...options,
    close: () => {
      closed += 1;
    },
  });
  const press = (...names: readonly string[]) => {
    for (const name of names) pager.press({ name, sequence: name });
  };
  const shown = () => laidOut(pager.draw(SIZE), SIZE.columns, SIZE.rows);
  return { pager, press, shown, closed: () => closed };
};

describe('the pager', () => {
  test('shows a title, a page and the number of lines', () => {
    const lines = setUp(20).shown();
    expect(lines[0]).toBe('A text');
    expect(lines.slice(2, 7)).toEqual([1, 2, 3, 4, 5].map((at) => `line ${at}`));
    expect(lines.at(-1)).toContain('5 of 20 lines');
    expect(lines).toHaveLength(SIZE.rows);
  });

  test.each([
    [['down'], 'line 2'],
    [['pagedown'], 'line 5'],
    [['G'], 'line 16'],
    [['end', 'up'], 'line 15'],
    [['G', 'pageup', 'g'], 'line 1'],
    [['up'], 'line 1'],
    [['G', 'down', 'down'], 'line 16'],
  ])('scrolls with %j to %s', (keys, first) => {
    const { press, shown } = setUp(20);
    press(...keys);
    expect(shown()[2]).toBe(first);
  });

  test('shows that a short text is complete', () => {
    expect(setUp(2).shown().at(-1)).toContain('all of it');
  });

  test('closes with q and Esc', () => {
    const { press, closed } = setUp(2);
    press('q', 'escape');
    expect(closed()).toBe(2);
  });

  test('passes other keys to its opener and can show another text', () => {
    const keys: string[] = [];
    const { pager, press, shown } = setUp(20, {
      press: (name) => {
        keys.push(name);
        return name === 'left';
      },
    });
    press('G', 'left');
    pager.show({ title: 'Another', lines: () => ['only this'] });
    expect(keys).toContain('left');
    expect(shown().slice(0, 3)).toEqual(['Another', '─'.repeat(40), 'only this']);
  });
});
