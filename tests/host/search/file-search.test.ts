import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileSearch } from '../../../src/host/search/file-search.js';
import { javascriptEngine } from '../../../src/host/search/javascript-engine.js';
import type { GrepQuery } from '../../../src/protocol/tools/file-search.js';
import { eventually } from '../../fakes/eventually.js';
import { childrenOf, isAlive } from '../process/processes.js';
import { ENGINES, grep, makeTree, searchWith, type Tree } from './search-tree.js';

interface Row {
  readonly title: string;
  readonly tree: Tree;
  readonly pattern: string;
  readonly query?: Partial<GrepQuery>;
  readonly below?: string;
  readonly hits: readonly string[];
}

const row = (
  title: string,
  tree: Tree,
  pattern: string,
  hits: readonly string[],
  query: Partial<GrepQuery> = {},
  below = '',
): Row => ({ title, tree, pattern, hits, query, below });

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';

const TABLE: readonly Row[] = [
  row(
    'returns lines in the order of paths',
    { 'b.txt': 'x1\n', 'a/z.txt': 'x2\n', 'a.txt': 'x3\n' },
    'x',
    ['a/z.txt:1:x2', 'a.txt:1:x3', 'b.txt:1:x1'],
  ),
  row(
    'shows lines around a match once',
    { a: LINES },
    'three|five',
    ['a-2-two', 'a:3:three', 'a-4-four', 'a:5:five', 'a-6-six'],
    { before: 1, after: 1 },
  ),
  row(
    'separates the lines before and after a match',
    { a: LINES },
    'one|seven',
    ['a:1:one', 'a-2-two', 'a:7:seven'],
    { after: 1 },
  ),
  row('lists files', { a: 'x', b: 'y', c: 'x' }, 'x', ['a', 'c'], { mode: 'files' }),
  row('counts lines', { a: 'x x\nx\n', b: 'y', c: 'x' }, 'x', ['a=2', 'c=1'], { mode: 'count' }),
  row('counts multiline matches', { a: 'x x\nx\n' }, 'x', ['a=3'], {
    mode: 'count',
    multiline: true,
  }),
  row('ignores case on request', { a: 'ÄB\nab\n' }, 'äb', ['a:1:ÄB'], { ignoreCase: true }),
  row('is case-sensitive by default', { a: 'AB\nab\n' }, 'ab', ['a:2:ab']),
  row('accepts an inline flag for case', { a: 'AB\nab\nc\n' }, '(?i)aB', ['a:1:AB', 'a:2:ab']),
  row('skips hidden files', { '.hidden': 'x', '.dir/a': 'x', a: 'x' }, 'x', ['a:1:x']),
  row(
    'searches hidden files that the glob names',
    { '.dir/a.yml': 'x', '.b.yml': 'x' },
    'x',
    ['.dir/a.yml:1:x'],
    { glob: '.dir/*.yml' },
  ),
  row('never searches .git', { '.git/config': 'x', a: 'x' }, 'x', [], { glob: '.git/**' }),
  row('searches a hidden directory on request', { '.dir/a': 'x' }, 'x', ['.dir/a:1:x'], {}, '.dir'),
  row(
    'skips files that .gitignore names',
    {
      '.gitignore': '*.log\n/dist/\n!keep.log\n# no\n',
      'a.log': 'x',
      'keep.log': 'x',
      'dist/a': 'x',
      'b/dist/a': 'x',
    },
    'x',
    ['b/dist/a:1:x', 'keep.log:1:x'],
  ),
  row(
    'lets the nearest .gitignore decide',
    { '.gitignore': '*.x\n', 'a/.gitignore': '!b.x\n', 'a/b.x': 'x', 'a/c.x': 'x' },
    'x',
    ['a/b.x:1:x'],
  ),
  row(
    'obeys the .gitignore files above the root, up to the repository',
    {
      '.gitignore': 'up\n',
      'r/.git/HEAD': '',
      'r/.gitignore': 'no\n',
      'r/s/no': 'x',
      'r/s/up': 'x',
    },
    'x',
    ['r/s/up:1:x'],
    {},
    'r/s',
  ),
  row(
    'searches an ignored directory on request',
    { '.git/HEAD': '', '.gitignore': 'out/**\nout\n', 'out/a/b': 'x' },
    'x',
    ['out/a/b:1:x'],
    {},
    'out',
  ),
  row('does not follow links', { 'a/x': 'x', link: { link: 'a' }, file: { link: 'a/x' } }, 'x', [
    'a/x:1:x',
  ]),
  row('ends with circular links', { 'a/x': 'x', 'a/up': { link: '..' }, l: { link: 'l' } }, 'x', [
    'a/x:1:x',
  ]),
  row('skips binary files', { a: 'x\0', b: 'x' }, 'x', ['b:1:x']),
  row(
    'reads UTF-16 with a byte order mark',
    { a: Buffer.from('\ufefföne\ntwo\n', 'utf16le') },
    'ö',
    ['a:1:öne'],
  ),
  row('skips the byte order mark of UTF-8', { a: '\ufeffone\n' }, '^one', ['a:1:one']),
  row(
    'shows invalid bytes as replacement characters',
    { a: Buffer.from([0x61, 0xff, 0x62, 10]) },
    'a',
    ['a:1:a\ufffdb'],
  ),
  row('accepts both kinds of line endings', { a: 'one\r\ntwo\nend\r\n' }, '(one|two|end)$', [
    'a:1:one',
    'a:2:two',
    'a:3:end',
  ]),
  row('finds a last line without an ending', { a: 'y\nx' }, 'x', ['a:2:x']),
  row(
    'matches across lines',
    { a: 'a {\n  b\n}\nc\n' },
    'a.*\\}',
    ['a:1:a {', 'a:2:  b', 'a:3:}'],
    {
      multiline: true,
    },
  ),
  row('matches a line break by its escape', { a: 'a\nb\nc\n' }, 'a\\nb', ['a:1:a', 'a:2:b'], {
    multiline: true,
  }),
  row('accepts a pattern that looks like a flag', { a: '--files\n-v\n' }, '--files', [
    'a:1:--files',
  ]),
  row('accepts names that look like flags', { '-v': 'x', '--help': 'x', '-': 'x' }, 'x', [
    '-:1:x',
    '--help:1:x',
    '-v:1:x',
  ]),
  row('accepts names with line breaks and quotes', { 'a\nb': 'x', 'c"d': 'x', 'e:1:f': 'x' }, 'x', [
    'a\nb:1:x',
    'c"d:1:x',
    'e:1:f:1:x',
  ]),
  row(
    'filters by a glob at any depth',
    { 'a.ts': 'x', 'b/c.tsx': 'x', 'd.js': 'x' },
    'x',
    ['a.ts', 'b/c.tsx'],
    {
      glob: '*.{ts,tsx}',
      mode: 'files',
    },
  ),
  row(
    'filters by a glob from the root',
    { 'src/a.ts': 'x', 'lib/src/a.ts': 'x' },
    'x',
    ['src/a.ts'],
    {
      glob: 'src/**/*.ts',
      mode: 'files',
    },
  ),
  row('omits files that a glob excludes', { 'a.ts': 'x', 'a.test.ts': 'x' }, 'x', ['a.ts'], {
    glob: '!*.test.ts',
    mode: 'files',
  }),
  row(
    'skips ignored files even if the glob names them',
    { '.gitignore': '*.log', 'a.log': 'x' },
    'x',
    [],
    {
      glob: '*.log',
    },
  ),
  row('filters by the type of a file', { 'a.py': 'x', 'a.rs': 'x' }, 'x', ['a.py'], {
    type: 'python',
    mode: 'files',
  }),
  row('searches a single file', { 'a/b': 'y\nx\n', c: 'x' }, 'x', ['a/b:2:x'], {}, 'a/b'),
  row('cuts long lines', { a: `x${'y'.repeat(5_000)}\n` }, 'x', [
    `a:1:x${'y'.repeat(1_999)}… [the rest of this line is left out]`,
  ]),
  row('returns no hits for an empty file', { a: '' }, '^$', []),
  row('finds empty lines', { a: 'x\n\ny\n' }, '^$', ['a:2:']),
];

/** Patterns and the lines of WORDS that they match. */
const WORDS = 'foo\nFOO bar\nfoo_bar\nföö 12\n a1 \n[x] {y}\n٣\nfoo(bar)\ntab\there\nα β\n';
const PATTERNS: readonly (readonly [string, readonly number[]])[] = [
  ['^foo$', [1]],
  ['\\bbar\\b', [2, 8]],
  ['\\<foo\\>', [1, 8]],
  ['f\\w+', [1, 3, 4, 8]],
  ['[[:upper:]]{3}', [2]],
  ['[[:^alnum:][:space:]]', [2, 3, 4, 5, 6, 7, 8, 9, 10]],
  ['\\d', [4, 5, 7]],
  ['\\s$', [5]],
  ['\\{y\\}', [6]],
  ['\\[x]', [6]],
  ['[]x]', [6]],
  ['\\p{Greek}', [10]],
  ['\\P{ASCII}', [4, 7, 10]],
  ['(?P<name>foo)\\(', [8]],
  ['(?<name>foo)\\(', [8]],
  ['(?i)foo bar', [2]],
  ['\\x{66}oo', [1, 3, 8]],
  ['\\u0066oo$', [1]],
  ['f(?:oo|öö)', [1, 3, 4, 8]],
  ['[a-z&&[^b-z]]1', [5]],
  ['[\\w--[a-z]]1', []],
  ['o{2}$', [1]],
  ['[[:nope:]]', [1, 3, 8, 9]],
  ['(o*)*\\(', [8]],
  ['o**\\(', [8]],
  ['^*foo$', [1]],
  ['\\t', [9]],
  ['.\\.', []],
  ['a|^f', [1, 2, 3, 4, 5, 8, 9]],
  ['', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
];

const BAD_PATTERNS = [
  '(',
  'a)',
  '[a',
  '*a',
  'a{',
  'a{2,1}',
  '\\',
  '\\q',
  '(?=a)',
  '(?<!a)b',
  '(a)\\1',
  '[z-a]',
  '\\p{Nope}',
  'a\\nb',
  'a\nb',
  'o{,2}',
  '\\Afoo',
  'a\0b',
  'foo\\z',
  'x{1',
];

describe.each(ENGINES.map(([name]) => name))('a search with %s', (name) => {
  const search = searchWith(name);

  test.each(TABLE.map((it) => [it.title, it] as const))('%s', async (_, it) => {
    const root = await makeTree(it.tree);
    const { hits, end } = await grep(search, join(root, it.below ?? ''), it.pattern, it.query);
    const named = it.hits.map((hit) =>
      it.below === '' ? hit : hit.slice((it.below ?? '').length + 1),
    );
    expect(hits).toEqual(it.below === 'a/b' ? [':2:x'] : named);
    expect(end).toMatchObject({ reason: 'complete', unreadable: 0, tooSlow: 0 });
  });

  test('supports the same syntax of regular expressions', async () => {
    const root = await makeTree({ a: WORDS });
    for (const [pattern, lines] of PATTERNS) {
      const { hits } = await grep(search, root, pattern);
      expect([pattern, hits.map((hit) => Number(hit.split(':')[1]))]).toEqual([pattern, lines]);
    }
  });

  test.each(BAD_PATTERNS)('rejects the pattern %j with a reason', async (pattern) => {
    const root = await makeTree({ a: 'a' });
    const refusal = grep(search, root, pattern);
    await expect(refusal).rejects.toThrow(
      /^The pattern cannot be used: [^:].{4,}\. Use the syntax/,
    );
  });

  test('explains that a line break in a pattern needs multiline', async () => {
    const root = await makeTree({ a: 'a' });
    await expect(grep(search, root, 'a\\nb')).rejects.toThrow('multiline: true');
  });

  test.each([{ glob: 'a{' }, { glob: '[a' }, { type: 'nope' }])('rejects %o', async (query) => {
    const root = await makeTree({ a: 'a' });
    await expect(grep(search, root, 'a', query)).rejects.toThrow(/cannot be used|no file type/);
  });

  test('rejects a missing root', async () => {
    const root = await makeTree({});
    await expect(grep(search, join(root, 'gone'), 'a')).rejects.toThrow('missing');
  });

  test('asks for permission before it reads a file, and counts the omitted files', async () => {
    const root = await makeTree({ a: 'x', '.gitignore': 'c', b: 'no', c: 'x', d: 'x' });
    const asked: string[] = [];
    const accepts = (path: string) => {
      asked.push(path.slice(root.length + 1));
      return !path.endsWith('a') && !path.endsWith('b');
    };
    const { hits, end } = await grep(search, root, 'x', { accepts });
    expect({ asked, hits, end }).toMatchObject({
      asked: ['a', 'b', 'd', 'd'],
      hits: ['d:1:x'],
      end: { leftOut: 2 },
    });
  });

  test('returns the same for protected files with any content', async () => {
    const root = await makeTree({ 'a.key': 'x', 'b.key': 'y', c: 'x' });
    const accepts = (path: string) => !path.endsWith('.key');
    const [first, second] = await Promise.all(
      ['x', '[xy]'].map((pattern) => grep(search, root, pattern, { accepts })),
    );
    expect(first).toMatchObject({
      hits: ['c:1:x'],
      end: { leftOut: 2, mayHaveLeftOutMore: false },
    });
    expect(second).toEqual(first);
  });

  test('protects files even if there are too many to count', async () => {
    const many = Object.fromEntries(Array.from({ length: 2_100 }, (_, at) => [`f${at}`, '']));
    const root = await makeTree({ ...many, 'z.key': 'x', zz: 'x' });
    const accepts = (path: string) => !path.endsWith('.key');
    const { hits, end } = await grep(search, root, 'x', { accepts });
    expect(hits).toEqual(['zz:1:x']);
    expect(end).toMatchObject({ leftOut: 0, mayHaveLeftOutMore: true });
  });

  test('does not ask again for a file that is the root of the search', async () => {
    const root = await makeTree({ 'a.key': 'x' });
    const { hits } = await grep(search, join(root, 'a.key'), 'x', { accepts: () => false });
    expect(hits).toEqual([':1:x']);
  });

  test('counts files that cannot be opened, such as files with invalid names', async () => {
    const root = await makeTree({ a: 'x' });
    execFileSync('bash', ['-c', "echo x > $'b\\xff'"], { cwd: root });
    const { hits, end } = await grep(search, root, 'x');
    expect({ hits, unreadable: end.unreadable }).toEqual({ hits: ['a:1:x'], unreadable: 1 });
  });

  test('stops when the caller needs no more hits', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`f${at}`, 'x\n'.repeat(100)]),
    );
    const root = await makeTree(many);
    const hits: unknown[] = [];
    const { end } = await grep(search, root, 'x', {
      maxHits: 5,
      onHit: (hit) => hits.push(hit) < 5,
    });
    expect(hits).toHaveLength(5);
    expect(end.reason).toBe('enough');
  });

  test('returns all hits of a long output in order', async () => {
    const text = `${'x'.repeat(200)}\n`.repeat(100);
    const names = Array.from({ length: 300 }, (_, at) => String(at).padStart(3, '0'));
    const root = await makeTree(Object.fromEntries(names.map((one) => [one, text])));
    const { hits } = await grep(search, root, 'x', { maxHits: 100_000 });
    const places = hits.map((hit) => hit.split(':', 2).join(':'));
    expect(places).toEqual(
      names.flatMap((one) => Array.from({ length: 100 }, (_, at) => `${one}:${at + 1}`)),
    );
  });

  test('leaves no process behind when the caller needs no more hits', async () => {
    const text = 'x\n'.repeat(200_000);
    const root = await makeTree({ a: text, b: text });
    const before = childrenOf(process.pid);
    await grep(search, root, 'x', { onHit: () => false });
    await eventually('the children are gone', () =>
      childrenOf(process.pid).every((pid) => before.includes(pid) || !isAlive(pid)),
    );
  });

  test('stops when its signal aborts or its time is over', async () => {
    const root = await makeTree({ a: 'x\n' });
    const aborted = AbortSignal.abort();
    expect((await grep(search, root, 'x', { signal: aborted })).end.reason).toBe('aborted');
    expect((await grep(search, root, 'x', { timeoutMs: 0 })).end.reason).toBe('timeout');
  });

  test('stops in a tree with too many entries and reports the reason', async () => {
    const root = await makeTree({ a: 'x', b: 'x', c: 'x' });
    const { hits, end } = await grep(searchWith(name, 2), root, 'x');
    expect({ hits, reason: end.reason }).toEqual({ hits: ['a:1:x', 'b:1:x'], reason: 'entries' });
  });

  test('searches a file of 100,000 lines', async () => {
    const lines = Array.from({ length: 100_000 }, (_, at) => `line ${at}`);
    const root = await makeTree({ a: lines.join('\n') });
    expect((await grep(search, root, '9999$')).hits).toHaveLength(10);
    expect((await grep(search, root, 'line', { mode: 'count' })).hits).toEqual(['a=100000']);
  });

  test('searches a line of 50 MB, and skips 50 MB of zeros', async () => {
    const root = await makeTree({ 'long.js': Buffer.alloc(50 * 1024 * 1024, 'a') });
    const sparse = await open(join(root, 'sparse'), 'w');
    await sparse.truncate(50 * 1024 * 1024);
    await sparse.close();
    const { hits } = await grep(search, root, 'aaa');
    expect(hits.map((hit) => hit.length)).toEqual([
      2_000 + 'long.js:1:… [the rest of this line is left out]'.length,
    ]);
  });

  test('skips files that are too large and counts them', async () => {
    const root = await makeTree({ a: 'x' });
    const large = await open(join(root, 'large'), 'w');
    await large.write('x\n');
    await large.truncate(65 * 1024 * 1024);
    await large.close();
    const { hits, end } = await grep(search, root, 'x');
    expect({ hits, tooLarge: end.tooLarge }).toEqual({ hits: ['a:1:x'], tooLarge: 1 });
  });

  test.each([false, true])(
    'stops a pattern with exponential run time (multiline: %s)',
    async (multiline) => {
      const root = await makeTree({ a: `${'a'.repeat(60)}!\n`, b: 'aa\n' });
      const { hits, end } = await grep(search, root, '^(a+)+$', { multiline });
      expect(hits).toEqual(['b:1:aa']);
      expect(end.tooSlow).toBe(name === 'ripgrep' ? 0 : 1);
    },
  );
});

describe('many searches at the same time', () => {
  test('are limited to eight, and all end', async () => {
    const root = await makeTree({ a: 'x' });
    const engine = javascriptEngine();
    let [running, maxRunning] = [0, 0];
    const search = fileSearch({
      engine: async () => ({
        name: 'javascript',
        async prepare(request, signal) {
          running += 1;
          maxRunning = Math.max(maxRunning, running);
          await new Promise(setImmediate);
          running -= 1;
          if (request.pattern === 'y') throw new Error('broken');
          return engine.prepare(request, signal);
        },
      }),
    });
    const patterns = Array.from({ length: 100 }, (_, at) => (at % 3 === 0 ? 'y' : 'x'));
    const ended = await Promise.allSettled(patterns.map((it) => grep(search, root, it)));
    expect(ended.map(({ status }) => status === 'fulfilled')).toEqual(
      patterns.map((it) => it === 'x'),
    );
    expect(maxRunning).toBeLessThanOrEqual(8);
  });
});

describe('both engines', () => {
  const name = fc.constantFrom('a', 'b.ts', 'c.md', '.h', 'd', 'e e');
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
  const line = fc.array(fc.constantFrom('foo', 'Bar', ' ', '(', 'ä', '1', '\t', '_'), {
    maxLength: 6,
  });
  const text = fc
    .tuple(
      fc.array(
        fc.tuple(line, fc.constantFrom('', '\r')).map(([parts, end]) => parts.join('') + end),
        { maxLength: 8 },
      ),
      fc.constantFrom('', '\n'),
    )
    .map(([lines, end]) => lines.join('\n') + end);
  const ignored = fc
    .array(
      fc.constantFrom(
        'a',
        '/a',
        '*.ts',
        '!b.ts',
        'd/',
        'a/*',
        '**/d',
        'e\\ e',
        '[bc].*',
        '{a,d}/b.ts',
      ),
      { maxLength: 3 },
    )
    .map((lines) => lines.join('\n'));
  const tree = fc
    .tuple(fc.dictionary(path, text, { maxKeys: 8 }), ignored)
    .map(([files, rules]) => ({ ...plausible(files), '.gitignore': rules }));
  const pattern = fc.constantFrom(
    'foo',
    'o+B',
    '^\\s',
    '\\w\\b',
    '(?i)BAR',
    'ä$',
    '[^f]oo',
    '\\(',
    'r\\d?$',
    '^',
    '[[:digit:]_]',
  );

  test('return the same hits for random trees', async () => {
    await fc.assert(
      fc.asyncProperty(
        tree,
        pattern,
        fc.record({
          mode: fc.constantFrom('lines', 'files', 'count'),
          before: fc.nat(2),
          after: fc.nat(2),
          ignoreCase: fc.boolean(),
          multiline: fc.boolean(),
          glob: fc.constantFrom(undefined, '*.ts', 'a/**', '!d', '**/b.ts', '.h'),
        }),
        async (files, expression, query) => {
          const root = await makeTree(files);
          const [first, second] = await Promise.all(
            ENGINES.map(([engine]) => grep(searchWith(engine), root, expression, query)),
          );
          expect(first).toEqual(second);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** A name cannot be both a file and a directory. */
const plausible = (files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).filter(
      ([path]) => !Object.keys(files).some((other) => other.startsWith(`${path}/`)),
    ),
  );
