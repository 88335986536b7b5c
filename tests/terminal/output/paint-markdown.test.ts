import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MARKDOWN_START, paintMarkdown } from '../../../src/terminal/output/paint-markdown.js';
import { type Paint, paintFor } from '../../../src/terminal/terminal.js';

/** Marks each colour with a letter and brackets. */
const LETTERS: Paint = {
  dim: (text) => `d[${text}]`,
  strong: (text) => `s[${text}]`,
  alarm: (text) => `r[${text}]`,
  warn: (text) => `y[${text}]`,
  good: (text) => `g[${text}]`,
  accent: (text) => `a[${text}]`,
  inverse: (text) => `l[${text}]`,
};

const painted = (text: string, paint: Paint = LETTERS): string => {
  let state = MARKDOWN_START;
  const lines = text.split('\n').map((line) => {
    const done = paintMarkdown(line, state, paint, true);
    state = done.state;
    return done.text;
  });
  return lines.join('\n');
};

describe('Markdown of a model', () => {
  test.each([
    ['## Findings', 's[## Findings]'],
    ['#hashtag', '#hashtag'],
    ['run `npm test` **now**', 'run a[`npm test`] s[**now**]'],
    ['``a ` b`` c', 'a[``a ` b``] c'],
    ['`**not strong**`', 'a[`**not strong**`]'],
    ['2 ** 3 and 2**3', '2 ** 3 and 2**3'],
    ['> somebody said', 'd[> somebody said]'],
    ['---', 'd[---]'],
    ['- a point', '- a point'],
    ['left **open', 'left s[**open]'],
  ])('%s is painted', (text, expected) => {
    expect(painted(text)).toBe(expected);
  });

  test('has code blocks in a single colour, without other markup', () => {
    const text = '```ts\n# no heading\n`x\n~~~\n```\n**after**';
    expect(painted(text)).toBe('d[```ts]\na[# no heading]\na[`x]\na[~~~]\nd[```]\ns[**after**]');
  });

  test('has diff blocks in the colours of a diff', () => {
    expect(painted('```diff\n+new\n-old\n same\n```')).toBe(
      'd[```diff]\ng[+new]\nr[-old]\na[ same]\nd[```]',
    );
  });

  test('keeps open markup across pieces of a line and closes it at the line end', () => {
    const first = paintMarkdown('see **this ', MARKDOWN_START, LETTERS, false);
    const second = paintMarkdown('and** that', first.state, LETTERS, true);
    expect([first.text, second.text]).toEqual(['see s[**this ]', 's[and**] that']);
    const heading = paintMarkdown('# A long ', MARKDOWN_START, LETTERS, false);
    expect(paintMarkdown('> title', heading.state, LETTERS, true).text).toBe('s[> title]');
    const open = paintMarkdown('an `open', MARKDOWN_START, LETTERS, true);
    expect(paintMarkdown('line', open.state, LETTERS, true).text).toBe('line');
  });

  test('keeps every character, with and without colours', () => {
    const parts = fc.constantFrom('`', '**', '```', '\n', ' ', 'word', '# ', '> ', '- ', '~~~');
    const texts = fc.array(parts, { maxLength: 40 }).map((all) => all.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        expect(painted(text, paintFor(false))).toBe(text);
        expect(stripVTControlCharacters(painted(text, paintFor(true)))).toBe(text);
      }),
    );
  });
});
