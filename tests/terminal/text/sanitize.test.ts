import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  echoLines,
  exactText,
  firstLines,
  lastLines,
  noticeText,
  oneLine,
  plainText,
  sanitize,
  stripEscapes,
} from '../../../src/terminal/text/sanitize.js';

/** Text with many control sequences. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\u001b[2J',
        '\u001b]0;x\u0007',
        '\u009b1A',
        '\r',
        '\u202e',
        '\u2066',
        '\ud83d',
      ),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('a', '\n', '\t', '👩‍👩‍👧', '日本'),
    ),
  )
  .map((parts) => parts.join(''));

describe('text for a terminal', () => {
  test.each([
    ['an escape sequence', 'a\u001b[31mb', 'a^[[31mb'],
    ['a bell', '\u0007', '^G'],
    ['a carriage return', 'all good\rbad', 'all good^Mbad'],
    ['a C1 control', '\u009b2J', '<U+009B>2J'],
    ['a delete', '\u007f', '^?'],
    ['an override of direction', 'a\u202ecod.exe', 'a<U+202E>cod.exe'],
    ['a line separator', 'a\u2028b', 'a<U+2028>b'],
    ['a tag', '\u{e0041}', '<U+E0041>'],
    ['a lone surrogate', 'a\ud83d', 'a<U+D83D>'],
  ])('spells out %s', (_, given, shown) => {
    expect(sanitize(given)).toBe(shown);
  });

  test('keeps lines, tabs, emoji and scripts as they are', () => {
    const text = 'a\n\tb 👩‍👩‍👧 日本 é';
    expect(sanitize(text)).toBe(text);
  });

  test('contains no control characters for any input', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(sanitize(text)).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  test('is the same for a whole text and for its pieces', () => {
    fc.assert(
      fc.property(hostile, fc.nat(), (text, at) => {
        const whole = text.toWellFormed();
        const cut = at % (whole.length + 1);
        // Deltas hold whole characters.
        fc.pre(whole.slice(0, cut).isWellFormed());
        expect(sanitize(whole.slice(0, cut)) + sanitize(whole.slice(cut))).toBe(sanitize(whole));
      }),
    );
  });

  test('shows every invisible character as a code point in its exact form', () => {
    expect(exactText('rm\u200d -rf\u200b')).toBe('rm<U+200D> -rf<U+200B>');
  });

  test('loses the colours of programs and spells out other controls', () => {
    expect(stripEscapes('\u001b[32mok\u001b[0m\r\n\u0008done')).toBe('ok\n^Hdone');
  });
});

describe('cut text', () => {
  test('is a single line of limited length', () => {
    expect(oneLine(' a\n\n b ', 10)).toBe('a b');
    expect(oneLine('x'.repeat(1_000_000), 10)).toBe('xxxxxxxxx…');
    expect(oneLine(`a${' '.repeat(100)}b`, 10)).toBe('a…');
  });

  test('shows how many lines are missing and on which side', () => {
    expect(firstLines('a\nb\nc', 2)).toEqual(['a', 'b', '(1 more lines)']);
    expect(firstLines('a\nb', 2)).toEqual(['a', 'b']);
    expect(echoLines('a\n\u001bb\nc', 2)).toEqual(['a', '^[b', '(1 more lines)']);
    expect(echoLines('a\nb', 2)).toEqual(['a', 'b']);
    expect(lastLines('a\nb\nc', 2)).toEqual(['(1 lines before)', 'b', 'c']);
  });
});

describe('a line of a listing', () => {
  test.each([
    ['colours', '\u001B[31mred\u001B[0m', 'red'],
    ['window titles', '\u001B]0;owned\u0007after', 'after'],
    ['line ends', 'one\r\ntwo\n\n  three\t.', 'one two three .'],
    ['direction controls', 'a\u202Eb\u2066c\u200F', 'abc'],
    ['invisible characters', 'a\u200Bb\uFEFFc\u{E0041}d', 'abcd'],
    ['bells and backspaces', 'a\u0007\u0008\u0000b', 'ab'],
    ['lone surrogates', 'a\uD800b', 'a\uFFFDb'],
  ])('loses its %s', (_, given, shown) => {
    expect(plainText(given)).toBe(shown);
  });

  test('keeps letters of every script and joined emoji', () => {
    expect(plainText('naïve 日本 👩‍👩‍👧')).toBe('naïve 日本 👩‍👩‍👧');
  });

  test('is a single line of limited length for any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const shown = plainText(text, 50);
        expect(Array.from(shown).length).toBeLessThanOrEqual(50);
        expect(shown).not.toMatch(/[\p{Cc}\u2028-\u202E\u2066-\u2069]/u);
      }),
    );
    expect(plainText('x'.repeat(1_000_000), 10)).toBe('xxxxxxxxx…');
  });
});

describe('a notice', () => {
  test('has the prefix "skein: " exactly once for any names in it', () => {
    fc.assert(
      fc.property(hostile, (name) => {
        const text = sanitize(noticeText(`${name}\nskein: All is well.`));
        expect(text.match(/^skein: /gm)).toHaveLength(1);
        expect(text.endsWith('\n')).toBe(true);
      }),
    );
  });
});

describe('the echo of a submitted text', () => {
  test('is cut after 2,000 characters, with the number of omitted characters', () => {
    expect(echoLines('x'.repeat(300_000))).toEqual([
      'x'.repeat(2_000),
      '(298,000 more characters)',
    ]);
    expect(echoLines(`a\n${'x'.repeat(1_999)}`)).toEqual([
      'a',
      'x'.repeat(1_998),
      '(1 more character)',
    ]);
  });

  test('has at most 14 lines and mentions every omission', () => {
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 50 }), fc.nat(3_000), (parts, size) => {
        const text = parts.join('\n').padEnd(size, 'x');
        const echo = echoLines(text);
        const isWhole = echo.join('\n') === exactText(text);
        expect(echo.length).toBeLessThanOrEqual(14);
        expect(isWhole || /^\([\d,]+ more (?:lines|characters?)\)$/.test(echo.at(-1) ?? '')).toBe(
          true,
        );
      }),
    );
  });
});
