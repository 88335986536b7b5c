import { existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { hasRead, textOf } from './edit.js';
import type { Entry } from './entry.js';
import { NOTES } from './hostile-tree.js';

const put = (file_path: string, content = 'new\n') => ({ file_path, content });

export const write: Entry = {
  tool: 'Write',
  sample: put('new.txt'),
  whole: ({ cwd, ...bench }) =>
    expect(existsSync(join(cwd, 'new.txt')) ? textOf({ cwd, ...bench }, 'new.txt') : 'new\n').toBe(
      'new\n',
    ),
  cases: {
    'a new file in new directories': {
      input: put('a/b/c/new.txt'),
      end: 'ok',
      says: /Created .*new\.txt \(1 lines?\)/,
      after: (bench) => expect(textOf(bench, 'a/b/c/new.txt')).toBe('new\n'),
    },
    'no content': { input: put('nil.txt', ''), end: 'ok', says: /Created .*\(0 lines\)/ },
    'ten megabytes': {
      input: put('large.txt', 'x'.repeat(10_000_000)),
      end: 'ok',
      says: /Created/,
      after: (_, { text }) => expect(text.length).toBeLessThan(1_000),
    },
    'an unread file': {
      input: put('notes.txt'),
      end: 'failed',
      says: /Read it first/,
      after: (bench) => expect(textOf(bench, 'notes.txt')).toBe(NOTES),
    },
    'a file that was read': {
      first: hasRead('notes.txt'),
      input: put('notes.txt'),
      end: 'ok',
      says: /Replaced/,
      after: (bench) => expect(textOf(bench, 'notes.txt')).toBe('new\n'),
    },
    'a lone surrogate': { input: put('half.txt', '\udc00'), end: 'failed', says: /surrogate/ },
    'a lone surrogate in the name': {
      input: put('half\ud800.txt'),
      end: 'failed',
      says: /surrogate/,
      after: ({ cwd }) =>
        expect(readdirSync(cwd).filter((name) => name.startsWith('half'))).toEqual([]),
    },
    'a directory': { input: put('folder'), end: 'failed', says: /director/ },
    'a path that ends with a slash': { input: put('folder/'), end: 'failed', says: /director/ },
    'the workspace itself': { input: put('.'), end: 'failed', says: /director/ },
    'a file used as a directory': {
      input: put('notes.txt/below.txt'),
      end: 'failed',
      says: /notes\.txt/,
      after: (bench) => expect(textOf(bench, 'notes.txt')).toBe(NOTES),
    },
    'a pipe': { input: put('pipe'), end: 'failed', says: /not a regular file/ },
    'a socket': { input: put('socket'), end: 'failed', says: /not a regular file/ },
    'a link to a device': { input: put('zero'), end: 'failed', says: /not a regular file/ },
    'a link to itself': { input: put('loop'), end: 'failed', says: /could not be used/ },
    'a dangling link, by creating its target': {
      input: put('dangling'),
      end: 'ok',
      says: /Created/,
      after(bench) {
        expect(textOf(bench, 'nowhere')).toBe('new\n');
        expect(lstatSync(join(bench.cwd, 'dangling')).isSymbolicLink()).toBe(true);
      },
    },
    'a too long name': {
      input: put('n'.repeat(300)),
      end: 'failed',
      says: /could not be used.*too long/,
    },
    'a name with shell and terminal syntax': {
      input: put('-rf $(touch pwned)\n"\u001b[31m'),
      end: 'ok',
      says: /Created/,
      after: ({ cwd }) => expect(readdirSync(cwd)).toContain('-rf $(touch pwned)\n"\u001b[31m'),
    },
    'a path in a read-only file system': {
      input: put('/proc/new.txt'),
      end: 'failed',
      says: /\/proc\/new\.txt/,
    },
    'the state directory of Skein': {
      first: ({ root }) => mkdirSync(join(root, 'home/.skein'), { recursive: true }),
      input: ({ root }: { root: string }) => put(join(root, 'home/.skein/settings.json')),
      end: 'denied',
      says: /state of Skein itself/,
      after: ({ root }) => expect(readdirSync(join(root, 'home/.skein'))).toEqual([]),
    },
  },
};
