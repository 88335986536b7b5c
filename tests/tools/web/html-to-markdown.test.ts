import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { htmlToMarkdown } from '../../../src/tools/web/html-to-markdown.js';

const convert = (html: string, limit = 1_000_000, signal = new AbortController().signal) =>
  htmlToMarkdown(html, { address: 'https://a.example/dir/page', limit, signal });

const markdownOf = async (html: string) => (await convert(html)).markdown;

describe('a page as Markdown', () => {
  test.each([
    ['headings', '<h1>One</h1><h3>Two <em>x</em></h3>', '# One\n\n### Two _x_'],
    ['paragraphs', '<p>One\n  line<p>Two<br>lines', 'One line\n\nTwo\nlines'],
    ['line breaks', 'a<br>b<br><br/>c<pre>d<br>e</pre>', 'a\nb\n\nc\n\n```\nd\ne\n```'],
    ['emphasis', 'a<b> bold </b>b <i></i><code>c</code>', 'a **bold** b `c`'],
    ['links', '<a href="/x?a=1&amp;b">there</a>', '[there](https://a.example/x?a=1&b)'],
    ['relative links', '<a href="x">x</a>', '[x](https://a.example/dir/x)'],
    ['links with brackets', '<a href="/w_(x)">w</a>', '[w](<https://a.example/w_(x)>)'],
    ['links without a target', '<a href="#a">a</a> <a href="javascript:x()">b</a>', 'a b'],
    ['empty links', 'a <a href="/x"> </a> b', 'a b'],
    [
      'images',
      '<img src="p.png" alt="A pic"><img src="q.png">',
      '![A pic](https://a.example/dir/p.png)',
    ],
    ['data images', '<img src="data:image/png;base64,AAAA" alt="dot">', '[dot]'],
    ['lists', '<ul><li>a<li>b<ul><li>c</ul><li>d</ul>', '- a\n- b\n  - c\n- d'],
    [
      'numbered lists',
      '<ol start=3><li>a</li><li><p>b</p><p>c</p></li></ol>',
      '3. a\n4. b\n\n   c',
    ],
    ['quotes', '<p>a<blockquote><p>b<p>c</blockquote>d', 'a\n\n> b\n>\n> c\n\nd'],
    ['code', '<pre><code>if a &lt; b:\n\n  c\n</code></pre>', '```\nif a < b:\n\n  c\n```'],
    ['code in a list', '<ul><li>x<pre>a\nb</pre></ul>', '- x\n\n  ```\n  a\n  b\n  ```'],
    [
      'tables',
      '<table><tr><th>A<th>B<tr><td>1<td><p>2</p><p>3</p></table>',
      '| A | B |\n| --- | --- |\n| 1 | 2 3 |',
    ],
    ['rules', 'a<hr>b', 'a\n\n---\n\nb'],
    ['entities', '&lt;&amp;&eacute;&#x1F9A2;&nbsp;&zzz;', '<&é🦢 &zzz;'],
    ['no text for an empty page', '', ''],
  ])('has %s', async (_, html, expected) => {
    expect(await markdownOf(html)).toBe(expected);
  });

  test('has the title of the page separately', async () => {
    const html = '<head><title>A &amp;\n B</title></head><svg><title>no</title></svg><p>x';
    expect(await convert(html)).toEqual({ title: 'A & B', markdown: 'x', cut: false });
  });

  test.each([
    ['scripts', '<script>evil("</p>")</script>'],
    ['styles', '<style>evil{}</style>'],
    ['noscript elements', '<noscript><p>evil</noscript>'],
    ['comments', '<!-- evil --><!evil><?evil?>'],
    ['SVG drawings', '<svg><text>evil</text></svg><svg/>'],
    ['frames and templates', '<iframe>evil</iframe><template><p>evil</template>'],
    [
      'hidden elements',
      '<div hidden>e<div>vil</div></div><span style="Display : none">evil</span>',
    ],
    ['attributes', '<p title="evil" onclick="evil()">'],
  ])('has no %s', async (_, html) => {
    expect(await markdownOf(`a${html} b`)).toMatch(/^a\s+b$/);
  });

  test('is generated from broken HTML', async () => {
    expect(await markdownOf('<p>a <b>b <i>c</b> d</i></x></p></div>e<')).toContain('e');
    expect(await markdownOf('<a href="x>y</a><p>z')).toBe('');
  });
});

describe('a hostile page', () => {
  const times = (text: string, length = 1_000_000) => text.repeat(length / text.length);

  test.each([
    '<div>',
    '<b>',
    '<b>x',
    '<a href=x>',
    '<table><tr><td>',
    '<ul><li>',
    '<li>',
    '<p>',
    '</p>',
    '<blockquote>',
    '<svg>',
    '<script>',
    '<title>',
    '<',
    '&',
    '&amp;',
    '<!--',
    '<![CDATA[',
    '</',
    '<p a=1 ',
    '<td>',
    '<h1>',
    '<pre>',
    '\n',
    '"',
    '<plaintext>',
    '<textarea>',
    '<dl><dt>',
    '<br>x',
  ])('with only %j is read to its end', async (unit) => {
    const { markdown } = await convert(times(unit), 200_000);
    expect(markdown.length).toBeLessThanOrEqual(200_000);
  });

  test('with deep nesting still shows its text', async () => {
    expect(await markdownOf(`${times('<div>')}deep`)).toBe('deep');
    expect(await markdownOf(`${times('<b><i><a href=x>', 60_000)}deep`)).toContain('deep');
  });

  test('with many stray end tags is converted in linear time', async () => {
    expect(await markdownOf(`${times('<b>', 300_000)}${times('</i>')}x`)).toContain('x');
  });

  test('cannot exceed the limit by indentation', async () => {
    const html = `${times('<blockquote><ul><li>', 100_000)}${times('<br>x')}`;
    const { markdown, cut } = await convert(html, 50_000);
    expect({ isShort: markdown.length <= 50_000, cut }).toEqual({ isShort: true, cut: true });
  });

  test('yields to other work, and stops if aborted', async () => {
    const controller = new AbortController();
    setImmediate(() => controller.abort(new Error('stop')));
    const converted = convert(times('<p>x', 9_000_000), 9_000_000, controller.signal);
    await expect(converted).rejects.toThrow('stop');
  });

  test('of any shape has deterministic Markdown within the limit', async () => {
    const piece = fc.constantFrom(
      '<p>',
      '</p>',
      '<b>',
      '</b>',
      '<ul>',
      '<li>',
      '</ul>',
      '<table>',
      '<tr>',
      '<td>',
      '</td>',
      '</table>',
      '<a href="/x">',
      '</a>',
      '<pre>',
      '</pre>',
      '<blockquote>',
      '</blockquote>',
      'text',
      ' ',
      '\n',
      '&lt;',
      '<div hidden>',
      '</div>',
      '<br>',
      '<h2>',
      '</h2>',
      '<code>',
      '</code>',
      '<svg/>',
      '<ol>',
      '</ol>',
      '</li>',
      '<hr>',
      '<!--',
      '-->',
      '<',
      '"',
      '<img alt=x>',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        const html = pieces.join('');
        const { markdown } = await convert(html, 200);
        expect(markdown.length).toBeLessThanOrEqual(200);
        expect((await convert(html, 200)).markdown).toBe(markdown);
      }),
      { numRuns: 500 },
    );
  });
});
