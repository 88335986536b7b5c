import { describe, expect, test } from 'vitest';
import { diskWorkspace } from '../../../src/host/files/disk-workspace.js';
import type { FileSearch, SearchEnd, SearchHit } from '../../../src/protocol/tools/file-search.js';
import { findFiles } from '../../../src/tools/search/find-files.js';
import { listDirectory } from '../../../src/tools/search/list-directory.js';
import { searchText } from '../../../src/tools/search/search-text.js';
import { makeTree, searchWith, type Tree } from '../../host/search/search-tree.js';
import { toolContext } from '../tool-context.js';

const contextOf = async (tree: Tree, mayRead: (path: string) => boolean = () => true) => {
  const cwd = await makeTree(tree);
  const search = searchWith('javascript');
  return toolContext(diskWorkspace('/home/goose'), { cwd, search, mayRead });
};

const grep = async (tree: Tree, input: Parameters<typeof searchText.call>[0]) =>
  (await searchText.call(input, await contextOf(tree))).content;

const COMPLETE: SearchEnd = {
  reason: 'complete',
  leftOut: 0,
  mayHaveLeftOutMore: false,
  unreadable: 0,
  tooLarge: 0,
  tooSlow: 0,
};

/** A search with the given hits. It stops when the receiver has enough. */
const searchOf = (hits: readonly SearchHit[], end: Partial<SearchEnd> = {}): FileSearch => ({
  list: () => Promise.reject(new Error('no list')),
  find: () => Promise.reject(new Error('no find')),
  async grep({ onHit }) {
    const isAll = hits.every((hit) => onHit(hit));
    return { ...COMPLETE, ...end, ...(!isAll && { reason: 'enough' }) };
  },
});

const report = async (search: FileSearch, input: object = {}) => {
  const context = toolContext(diskWorkspace(), { search });
  const outcome = await searchText.call({ pattern: 'x', ...input }, context);
  return outcome.content as string;
};

const lines = (count: number, text = 'x'): readonly SearchHit[] =>
  Array.from({ length: count }, (_, at) => ({
    path: '/work/a',
    line: at + 1,
    text,
    isMatch: true,
  }));

describe('Grep', () => {
  test('lists matching files relative to the working directory', async () => {
    const tree = { 'src/a.ts': 'foo', 'src/b.ts': 'bar', 'c.ts': 'foo' };
    expect(await grep(tree, { pattern: 'foo' })).toBe('c.ts\nsrc/a.ts');
  });

  test('shows lines with numbers and context', async () => {
    const tree = { a: 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n' };
    const input = { pattern: 'two|six', output_mode: 'content', '-C': 1 } as const;
    expect(await grep(tree, input)).toBe(
      'a-1-one\na:2:two\na-3-three\n--\na-5-five\na:6:six\na-7-seven',
    );
    expect(await grep(tree, { ...input, '-C': 0, '-n': false })).toBe('a:two\na:six');
    expect(await grep(tree, { ...input, '-B': 0 })).toBe(
      'a:2:two\na-3-three\n--\na:6:six\na-7-seven',
    );
  });

  test('counts matches per file', async () => {
    const tree = { a: 'x\nx\n', b: 'x\n' };
    expect(await grep(tree, { pattern: 'x', output_mode: 'count' })).toBe(
      'a:2\nb:1\n\n[3 in 2 files.]',
    );
  });

  test('passes its other inputs to the search', async () => {
    const tree = { 'a.ts': 'FOO\nbar\n', 'b.py': 'foo\nbar\n', 'c/a.ts': 'foo' };
    const shared = { pattern: 'foo', output_mode: 'content' } as const;
    expect(await grep(tree, { ...shared, '-i': true, glob: '*.ts' })).toBe(
      'a.ts:1:FOO\nc/a.ts:1:foo',
    );
    expect(await grep(tree, { ...shared, type: 'py' })).toBe('b.py:1:foo');
    expect(await grep(tree, { ...shared, path: 'c' })).toBe('c/a.ts:1:foo');
    expect(await grep(tree, { ...shared, pattern: 'foo.bar', multiline: true })).toBe(
      'b.py:1:foo\nb.py:2:bar',
    );
  });

  test('shows a page, with the offset to continue', async () => {
    const page = await report(searchOf(lines(5)), {
      output_mode: 'content',
      head_limit: 2,
      offset: 1,
    });
    expect(page).toBe(
      'a:2:x\na:3:x\n\n[There are more lines. Continue with offset 3, or narrow the search.]',
    );
    expect(await report(searchOf(lines(2)), { output_mode: 'content', offset: 5 })).toBe(
      'There are only 2 results, so there is nothing at offset 5.',
    );
  });

  test('shows 250 lines by default and for 0', async () => {
    const shown = await report(searchOf(lines(300)), { output_mode: 'content', head_limit: 0 });
    expect(shown).toContain('a:250:x\n\n[There are more lines. Continue with offset 250');
  });

  test('is bounded if lines are long', async () => {
    const shown = await report(searchOf(lines(200, 'y'.repeat(2_000))), { output_mode: 'content' });
    expect(shown.length).toBeLessThan(62_000);
    expect(shown).toMatch(/Continue with offset \d+/);
  });

  test('reports that no file matches', async () => {
    expect(await grep({ a: 'x' }, { pattern: 'nope' })).toMatch(/^Nothing below \/.* matches\.$/);
  });

  test.each([
    [{ leftOut: 2 }, '2 files left out: rules protect such files, and Read would ask first.'],
    [{ leftOut: 1, mayHaveLeftOutMore: true }, 'At least 1 file left out'],
    [{ unreadable: 3 }, '3 files or directories could not be opened.'],
    [{ tooLarge: 1 }, '1 file of more than 67108864 bytes not searched'],
    [{ tooSlow: 1 }, 'Use a simpler pattern'],
    [{ reason: 'timeout' }, 'stopped after 20000 ms. Narrow it'],
    [{ reason: 'entries' }, 'the tree is too large. Narrow it'],
    [{ reason: 'aborted' }, 'Interrupted'],
  ] as const)('reports omitted results: %o', async (end, sentence) => {
    expect(await report(searchOf(lines(1), end))).toContain(sentence);
  });

  test('shows names with line breaks on a single line', async () => {
    expect(await report(searchOf([{ path: '/work/a\nb' }]))).toBe('"a\\nb"');
    expect(await report(searchOf([{ path: '/elsewhere/a' }]))).toBe('/elsewhere/a');
  });

  test.each([
    [{ pattern: '(' }, 'The pattern cannot be used'],
    [{ pattern: 'x', glob: '[' }, 'The glob "[" cannot be used'],
    [{ pattern: 'x', type: 'klingon' }, 'There is no file type "klingon"'],
    [{ pattern: 'x', path: 'gone' }, 'There is no file at'],
    [{ pattern: 'x', path: 'a\0b' }, 'NUL character'],
  ])('explains the error in %o', async (input, sentence) => {
    await expect(grep({ a: 'x' }, input)).rejects.toThrow(sentence);
  });

  test('never shows files that rules protect', async () => {
    const context = await contextOf({ a: 'x', b: 'x' }, (path) => !path.endsWith('b'));
    const { content } = await searchText.call({ pattern: 'x' }, context);
    expect(content).toBe(
      'a\n\n[1 file left out: rules protect such files, and Read would ask first.]',
    );
  });
});

describe('Glob', () => {
  const glob = async (tree: Tree, input: Parameters<typeof findFiles.call>[0]) =>
    (await findFiles.call(input, await contextOf(tree))).content as string;

  test('lists matching files', async () => {
    const tree = { 'src/a.ts': '', 'src/b.js': '' };
    expect(await glob(tree, { pattern: '*.ts' })).toBe('src/a.ts');
    expect(await glob(tree, { pattern: './src/*.js' })).toBe('src/b.js');
    expect(await glob(tree, { pattern: 'b.*', path: 'src' })).toBe('src/b.js');
  });

  test('shows a hundred files, with the total number', async () => {
    const tree = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`f${at}`, '']));
    const shown = await glob(tree, { pattern: '*' });
    expect(shown.split('\n').filter((line) => line.startsWith('f'))).toHaveLength(100);
    expect(shown).toContain('[The newest 100 of 150 files. Use a narrower pattern.]');
  });

  test('accepts an absolute pattern below its start only', async () => {
    const context = await contextOf({ 'src/a.ts': '' });
    const call = (pattern: string) => findFiles.call({ pattern }, context);
    expect((await call(`${context.cwd}/src/*.ts`)).content).toBe('src/a.ts');
    await expect(call('/etc/*')).rejects.toThrow('Give its directory as path');
    await expect(call('../*')).rejects.toThrow('Give the directory to start from as path');
  });

  test('omits files that rules protect', async () => {
    const context = await contextOf({ a: '', '.env': '' }, (path) => !path.endsWith('.env'));
    const { content } = await findFiles.call({ pattern: '{a,.env}' }, context);
    expect(content).toBe(
      'a\n\n[1 file left out: rules protect such files, and Read would ask first.]',
    );
  });

  test('reports that no file matches, and explains an invalid pattern', async () => {
    expect(await glob({ a: '' }, { pattern: '*.ts' })).toContain('matches *.ts.');
    await expect(glob({ a: '' }, { pattern: '{a' })).rejects.toThrow(
      'The glob "{a" cannot be used',
    );
    await expect(glob({ a: '' }, { pattern: '*', path: 'a' })).rejects.toThrow('not a directory');
  });
});

describe('LS', () => {
  const list = async (tree: Tree, input: Parameters<typeof listDirectory.call>[0] = {}) => {
    const context = await contextOf(tree);
    const { content } = await listDirectory.call(input, context);
    return (content as string).replace(context.cwd, 'CWD');
  };

  test('shows each entry by its kind', async () => {
    const tree = { 'a/b': '', '.h': '12', l: { link: 'a' } };
    expect(await list(tree)).toBe('CWD/\n  .h (2)\n  a/\n  l -> a');
    expect(await list(tree, { path: 'a' })).toBe('CWD/a/\n  b (0)');
    expect(await list(tree, { ignore: ['.*', 'l'] })).toBe('CWD/\n  a/');
  });

  test('shows a thousand entries, with a note', async () => {
    const tree = Object.fromEntries(Array.from({ length: 1_005 }, (_, at) => [`f${at}`, '']));
    expect(await list(tree)).toContain('[The first 1000 of 1005 entries.');
  });

  test('reports an empty directory, and refuses a path that is not a directory', async () => {
    expect(await list({})).toBe('CWD is empty.');
    await expect(list({ a: '' }, { path: 'a' })).rejects.toThrow('is a file, not a directory');
    await expect(list({}, { path: 'b' })).rejects.toThrow('LS shows a directory');
  });
});
