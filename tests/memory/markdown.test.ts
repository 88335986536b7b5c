import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMarkdown } from '../../src/memory/markdown.js';
import { MEMORY_LIMITS } from '../../src/memory/memory-limits.js';

const includesOf = async (source: string) => (await readMarkdown(source))?.includes;
const textOf = async (source: string) => (await readMarkdown(source))?.text;

describe('Includes of Markdown', () => {
  test.each([
    ['a paragraph', 'Read @./a.md first.', ['./a.md']],
    ['a heading', '# About @a.md\n', ['a.md']],
    ['a list', '- one\n- @a.md\n  - @b.md\n', ['a.md', 'b.md']],
    ['a quote', '> see @a.md\n', ['a.md']],
    [
      'the home, where ~~ strikes nothing out',
      '@~/a.md and ~~@~/b.md~~ @~/c.md',
      ['~/a.md', '~/c.md'],
    ],
    ['emphasis', 'Do **@a.md** and __init__ @__x__/b.md', ['a.md', '__x__/b.md']],
    ['what stands around a span of code', '@a.md `@b.md` @c.md', ['a.md', 'c.md']],
    ['escaped underscores', '@a\\_b.md', ['a_b.md']],
  ])('are found in %s', async (_, source, names) => {
    expect(await includesOf(source)).toEqual(names);
  });

  test.each([
    ['fenced code', '```\n@a.md\n```\n'],
    ['fenced code of tildes', '~~~md\n@a.md\n~~~\n'],
    ['a fence that is never closed', '```\n@a.md\n\n@b.md'],
    ['indented code', 'x\n\n    @a.md\n'],
    ['code in a list', '- x\n\n  ```\n  @a.md\n  ```\n'],
    ['code in a quote', '> ```\n> @a.md\n> ```\n'],
    ['a span of code', 'Write `@a.md` or ``x @b.md``.'],
    ['a span of code over two lines', 'Write `x\n@a.md y`.'],
    ['code by tag', 'x <code>@a.md</code>'],
    ['a comment', '<!-- @a.md -->\n'],
    ['a comment of many lines', '<!--\n\n@a.md\n\n-->\n'],
    ['a comment in a line', 'x <!-- @a.md --> y'],
    ['a comment that is never closed', '<!--\n\n@a.md\n'],
    ['an address of mail', 'Write to ann@example.org or <ann@example.org>.'],
    ['the target of a link', '[x](@a.md)'],
    ['an escaped at', '\\@a.md'],
  ])('are not found in %s', async (_, source) => {
    expect(await includesOf(source)).toEqual([]);
  });

  test('are not looked for in a paragraph that is too long, and that is said', async () => {
    const long = `${'word '.repeat(MEMORY_LIMITS.paragraphCharacters / 5)}@b.md`;
    expect(await readMarkdown(`@a.md\n\n${long}\n\n@c.md`)).toMatchObject({
      includes: ['a.md', 'c.md'],
      isPartial: true,
    });
  });

  test.each([
    ['quotes', '>'],
    ['quotes with spaces', '> '],
    ['lists', '- '],
    ['numbered lists', '1. '],
    ['quotes and lists', '> - '],
  ])('are not looked for in a thousand nested %s', async (_, mark) => {
    expect(await readMarkdown(`${mark.repeat(1_000)}@a.md`)).toBeUndefined();
    expect(await includesOf(`${mark.repeat(4)}@a.md`)).toEqual(['a.md']);
  });
});

describe('Comments of Markdown', () => {
  test.each([
    ['that stand as a block', 'a\n\n<!-- note -->\n\nb', 'a\n\n\n\nb'],
    ['of many lines', 'a\n\n<!-- note\n\nmore -->\nb', 'a\n\nb'],
    ['right under a paragraph', 'a\n<!-- note -->\nb', 'a\nb'],
    ['beside one another', '<!-- a --><!-- b -->\nc', 'c'],
    ['but not what follows on their line', '<!-- a --> kept\n', ' kept\n'],
  ])('are taken out %s', async (_, source, text) => {
    expect(await textOf(source)).toBe(text);
  });

  test.each([
    ['in a line', 'a <!-- note --> b'],
    ['in fenced code', '```\n<!-- note -->\n```'],
    ['in indented code', 'a\n\n    <!-- note -->\n'],
    ['in a span of code', 'a `<!-- note -->` b'],
    ['that are never closed', 'a\n\n<!-- note\n\nb'],
    ['in another block of HTML', '<div>\n<!-- note -->\n</div>\n'],
  ])('are kept %s', async (_, source) => {
    expect(await textOf(source)).toBe(source);
  });

  test('are taken out up to one that is never closed', async () => {
    expect(await textOf('<!-- a --><!-- b\n\nc')).toBe('<!-- b\n\nc');
  });

  /** Whether `left` is what remains of `source` when some comments go; space does not count. */
  const isLeftOf = (source: string, left: string): boolean => {
    const isSpace = (character: string | undefined) => character?.trim() === '';
    // Places in `left` that can be reached at each place in `source`.
    const reached = Array.from({ length: source.length + 1 }, () => new Set<number>());
    reached[0]?.add(0);
    for (const [at, places] of reached.entries()) {
      // `<!-->` may be a whole comment, or the beginning of a longer one.
      const ends = source.startsWith('<!--', at)
        ? [source.indexOf('-->', at + 2), source.indexOf('-->', at + 4)].filter((end) => end !== -1)
        : [];
      for (const place of places) {
        if (isSpace(left[place])) places.add(place + 1);
        if (isSpace(source[at])) reached[at + 1]?.add(place);
        if (at < source.length && source[at] === left[place]) reached[at + 1]?.add(place + 1);
        for (const end of ends) reached[end + 3]?.add(place);
      }
    }
    return reached[source.length]?.has(left.length) === true;
  };

  test('are all that is ever taken out', async () => {
    const piece = fc.constantFrom(
      '<!--',
      '-->',
      '\n',
      '\n\n',
      '> ',
      '- ',
      '    ',
      '`',
      '```\n',
      '@a',
      'word ',
      '<b>',
      '---\n',
      '# ',
      '\t',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        const source = pieces.join('');
        const text = await textOf(source);
        // What is nested deeper than is read stays as it is.
        expect(isLeftOf(source, text ?? source)).toBe(true);
      }),
    );
  });
});
