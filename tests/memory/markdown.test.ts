import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMarkdown } from '../../src/memory/markdown.js';
import { MEMORY_LIMITS } from '../../src/memory/memory-limits.js';

const includesOf = async (source: string) => (await readMarkdown(source))?.includes;
const textOf = async (source: string) => (await readMarkdown(source))?.text;

describe('the includes of a Markdown file', () => {
  test.each([
    ['a paragraph', 'Read @./a.md first.', ['./a.md']],
    ['a heading', '# About @a.md\n', ['a.md']],
    ['a list', '- one\n- @a.md\n  - @b.md\n', ['a.md', 'b.md']],
    ['a quote', '> see @a.md\n', ['a.md']],
    [
      'a home path, where ~~ does not strike text out',
      '@~/a.md and ~~@~/b.md~~ @~/c.md',
      ['~/a.md', '~/c.md'],
    ],
    ['emphasis', 'Do **@a.md** and __init__ @__x__/b.md', ['a.md', '__x__/b.md']],
    ['text around a code span', '@a.md `@b.md` @c.md', ['a.md', 'c.md']],
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
    ['a code span', 'Write `@a.md` or ``x @b.md``.'],
    ['a code span over two lines', 'Write `x\n@a.md y`.'],
    ['a code tag', 'x <code>@a.md</code>'],
    ['a comment', '<!-- @a.md -->\n'],
    ['a comment of several lines', '<!--\n\n@a.md\n\n-->\n'],
    ['an inline comment', 'x <!-- @a.md --> y'],
    ['a comment that is never closed', '<!--\n\n@a.md\n'],
    ['an email address', 'Write to ann@example.org or <ann@example.org>.'],
    ['a link target', '[x](@a.md)'],
    ['an escaped @', '\\@a.md'],
  ])('are not found in %s', async (_, source) => {
    expect(await includesOf(source)).toEqual([]);
  });

  test('are not searched in a too long paragraph, and the result is marked partial', async () => {
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
  ])('are not searched in 1000 nested %s', async (_, mark) => {
    expect(await readMarkdown(`${mark.repeat(1_000)}@a.md`)).toBeUndefined();
    expect(await includesOf(`${mark.repeat(4)}@a.md`)).toEqual(['a.md']);
  });
});

describe('the comments of a Markdown file', () => {
  test.each([
    ['as a block', 'a\n\n<!-- note -->\n\nb', 'a\n\n\n\nb'],
    ['of several lines', 'a\n\n<!-- note\n\nmore -->\nb', 'a\n\nb'],
    ['directly below a paragraph', 'a\n<!-- note -->\nb', 'a\nb'],
    ['next to each other', '<!-- a --><!-- b -->\nc', 'c'],
    ['without the rest of the line', '<!-- a --> kept\n', ' kept\n'],
  ])('are removed: %s', async (_, source, text) => {
    expect(await textOf(source)).toBe(text);
  });

  test.each([
    ['inline', 'a <!-- note --> b'],
    ['in fenced code', '```\n<!-- note -->\n```'],
    ['in indented code', 'a\n\n    <!-- note -->\n'],
    ['in a code span', 'a `<!-- note -->` b'],
    ['never closed', 'a\n\n<!-- note\n\nb'],
    ['in another HTML block', '<div>\n<!-- note -->\n</div>\n'],
  ])('are kept: %s', async (_, source) => {
    expect(await textOf(source)).toBe(source);
  });

  test('are removed up to a comment that is never closed', async () => {
    expect(await textOf('<!-- a --><!-- b\n\nc')).toBe('<!-- b\n\nc');
  });

  /** True if `left` equals `source` without some of its comments. White space is ignored. */
  const isLeftOf = (source: string, left: string): boolean => {
    const isSpace = (character: string | undefined) => character?.trim() === '';
    // Positions in `left` that are reachable at each position in `source`.
    const reached = Array.from({ length: source.length + 1 }, () => new Set<number>());
    reached[0]?.add(0);
    for (const [at, places] of reached.entries()) {
      // `<!-->` is a complete comment or the start of a longer comment.
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

  test('are the only text that is removed', async () => {
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
        // Text that is nested too deeply stays unchanged.
        expect(isLeftOf(source, text ?? source)).toBe(true);
      }),
    );
  });
});
