import { execFileSync } from 'node:child_process';
import { chmod, mkdir, utimes } from 'node:fs/promises';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob } from '../../../src/lib/paths/glob.js';
import { needs } from '../../setup/needs.js';
import { makeTree, searchWith, type Tree } from './search-tree.js';

const search = searchWith('javascript');

const find = async (root: string, pattern: string, newest = 1_000) => {
  const { files, total, end } = await search.find({
    root,
    pattern,
    newest,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  });
  return { files: files.map((file) => relative(root, file)), total, end };
};

const matches = (pattern: string, path: string) => compileGlob(pattern).matches(path.split('/'));

describe('a glob', () => {
  test.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'src/deep/a.ts', true],
    ['*.ts', 'a.tsx', false],
    ['/*.ts', 'src/a.ts', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/b/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/b/c/a.ts', true],
    ['src/**', 'src/a/b', true],
    ['src/**', 'src', false],
    ['**', 'a/b', true],
    ['**/test/**', 'a/test/b', true],
    ['**/test/**', 'test/b', true],
    ['a/**/b/**/c', 'a/x/b/y/b/c', true],
    ['a/**/b/**/c', 'a/x/c', false],
    ['*.{ts,{j,m}s}', 'x.ms', true],
    ['*.{ts,{j,m}s}', 'x.cs', false],
    ['{a,b}/c', 'b/c', true],
    ['a?c', 'abc', true],
    ['a?c', 'a💚c', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[^a-c]x', 'dx', true],
    ['[]]x', ']x', true],
    ['[a-]x', '-x', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['a**b', 'axxb', true],
    ['*a*b*', 'xxaxxbxx', true],
    ['[{]a', '{a', true],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  test.each(['a{b', '[a', 'a\\', '[z-a]'])('rejects %s', (pattern) => {
    expect(() => compileGlob(pattern)).toThrow(/./);
  });

  test('stays fast with a hostile pattern', () => {
    const name = 'a'.repeat(250);
    expect(matches(`${'*a'.repeat(100)}b`, name)).toBe(false);
    expect(matches(`${'**/'.repeat(100)}b`, 'a/'.repeat(500))).toBe(false);
    expect(() => compileGlob('{a,b}'.repeat(20))).toThrow('more than 256');
    expect(() => compileGlob(`${'{'.repeat(1e6)}a${'}'.repeat(1e6)}`)).toThrow('characters');
  });
});

describe('finding files', () => {
  test('reads braces in .gitignore literally, like git, and stays fast with a hostile file', async () => {
    const lines = Array.from({ length: 4_000 }, (_, line) => `${'{a,b}'.repeat(8)}*x${line}`);
    const nested = `${'{'.repeat(3e5)}a${'}'.repeat(3e5)}`;
    const root = await makeTree({
      '.gitignore': `*.{log,tmp}\n${nested}\n${' '.repeat(2e5)}x\n${lines.join('\n')}`,
      'a.log': '',
      'b.{log,tmp}': '',
    });
    expect((await find(root, '*')).files).toEqual(['a.log']);
  });

  test('returns the newest files first, and counts all', async () => {
    const root = await makeTree({ a: '', b: '', 'c/d': '' });
    await utimes(join(root, 'a'), 100, 100);
    await utimes(join(root, 'c/d'), 300, 300);
    await utimes(join(root, 'b'), 200, 200);
    expect(await find(root, '*')).toMatchObject({ files: ['c/d', 'b', 'a'], total: 3 });
    expect(await find(root, '*', 1)).toMatchObject({ files: ['c/d'], total: 3 });
  });

  test('returns only the requested number of many files', async () => {
    const names = Array.from({ length: 3_000 }, (_, at) => [`f${at}`, '']);
    const root = await makeTree(Object.fromEntries(names));
    const { files, total } = await find(root, 'f*', 10);
    expect([files.length, total]).toEqual([10, 3_000]);
  });

  test('rejects a root that is a file or missing', async () => {
    const root = await makeTree({ a: '' });
    await expect(find(join(root, 'a'), '*')).rejects.toThrow('not-a-directory');
    await expect(find(join(root, 'b'), '*')).rejects.toThrow('missing');
  });

  test('ignores a .gitignore that is a pipe or too large', async () => {
    const root = await makeTree({
      a: '',
      'b/c': '',
      'b/.gitignore': `c\n${'#'.repeat(2_000_000)}`,
    });
    execFileSync('mkfifo', [join(root, '.gitignore')]);
    expect((await find(root, '*')).files.sort()).toEqual(['a', 'b/c']);
  });

  test('counts a directory that it may not open', async () => {
    const root = await makeTree({ a: '', 'locked/b': '' });
    await chmod(join(root, 'locked'), 0);
    const { files, end } = await find(root, '*');
    // The root user may open all directories.
    const mayOpen = process.getuid?.() === 0;
    expect(files.sort()).toEqual(mayOpen ? ['a', 'locked/b'] : ['a']);
    expect(end.unreadable).toBe(mayOpen ? 0 : 1);
    await chmod(join(root, 'locked'), 0o700);
  });
});

needs.describe('git')('a walk of a repository', () => {
  test('agrees with git on the ignored files', async () => {
    const name = fc.constantFrom('a', 'b', 'a.log', 'c d', 'x1');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
    const line = fc.constantFrom(
      'a',
      '/a',
      'a/',
      '*.log',
      '!a.log',
      '!b',
      'a/b',
      'a/*',
      '**/b',
      'b/**',
      '!a/',
      'x[0-9]',
      'c\\ d',
      '?',
      '#a',
    );
    const rules = fc.array(line, { maxLength: 4 }).map((lines) => lines.join('\n'));
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(path, { maxLength: 8 }),
        rules,
        rules,
        async (paths, top, nested) => {
          const files = paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`)));
          const tree: Tree = {
            ...Object.fromEntries(files.map((file) => [file, ''])),
            '.gitignore': top,
            ...(files.some((file) => file.startsWith('a/')) && { 'a/.gitignore': nested }),
          };
          const root = await makeTree(tree);
          execFileSync('git', ['init', '-q', root]);
          const output = execFileSync('git', ['ls-files', '-z', '-o', '--exclude-standard'], {
            cwd: root,
            encoding: 'utf8',
          });
          const expected = output
            .split('\0')
            .filter((file) => file !== '' && !/(^|\/)\./.test(file));
          expect((await find(root, '*')).files.sort()).toEqual(expected.sort());
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a directory listing', () => {
  const list = (directory: string, maxEntries = 100, ignore: readonly string[] = []) =>
    search.list({ directory, maxEntries, ignore });

  test('has the kind of each entry, with hidden files', async () => {
    const root = await makeTree({
      b: 'xyz',
      '.a': '',
      l: { link: 'b' },
      gone: { link: 'nowhere' },
    });
    await mkdir(join(root, 'd'));
    expect(await list(root)).toEqual({
      total: 5,
      entries: [
        { name: '.a', kind: 'file', size: 0 },
        { name: 'b', kind: 'file', size: 3 },
        { name: 'd', kind: 'directory' },
        { name: 'gone', kind: 'link', target: 'nowhere' },
        { name: 'l', kind: 'link', target: 'b' },
      ],
    });
  });

  test('omits ignored entries, and entries above the limit', async () => {
    const root = await makeTree({ 'a.log': '', b: '', c: '' });
    const { entries, total } = await list(root, 1, ['*.log']);
    expect([entries.map(({ name }) => name), total]).toEqual([['b'], 2]);
  });

  test('rejects files and missing directories', async () => {
    const root = await makeTree({ a: '' });
    await expect(list(join(root, 'a'))).rejects.toThrow('not-a-directory');
    await expect(list(join(root, 'b'))).rejects.toThrow('missing');
  });
});
