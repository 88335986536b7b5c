import { appendFileSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Bench } from './bench.js';
import type { Case, Entry } from './entry.js';
import { NOTES } from './hostile-tree.js';

export const hasRead = (file_path: string) => (bench: Bench) => bench.call('Read', { file_path });

export const textOf = (bench: Bench, name: string): string =>
  readFileSync(join(bench.cwd, name), 'utf8');

const unchanged = (name: string, text: string) => (bench: Bench) =>
  expect(textOf(bench, name)).toBe(text);

const change = (file_path: string, old_string: string, new_string: string): Case['input'] => ({
  file_path,
  old_string,
  new_string,
});

export const edit: Entry = {
  tool: 'Edit',
  first: hasRead('notes.txt'),
  sample: { file_path: 'notes.txt', old_string: 'beta', new_string: 'BETA' },
  whole: (bench) =>
    expect([NOTES, NOTES.replace('beta', 'BETA')]).toContain(textOf(bench, 'notes.txt')),
  cases: {
    'a passage that occurs once': {
      first: hasRead('notes.txt'),
      input: change('notes.txt', 'beta', 'BETA'),
      end: 'ok',
      says: /Replaced one passage/,
      after: unchanged('notes.txt', 'alpha\nBETA\ngamma\n'),
    },
    'special characters of replacement patterns': {
      first: hasRead('notes.txt'),
      input: change('notes.txt', 'beta', "$& $1 $' \\0"),
      end: 'ok',
      says: /Replaced/,
      after: unchanged('notes.txt', "alpha\n$& $1 $' \\0\ngamma\n"),
    },
    'an unread file': {
      input: change('notes.txt', 'beta', 'x'),
      end: 'failed',
      says: /Read it first/,
      after: unchanged('notes.txt', NOTES),
    },
    'a file that changed since it was read': {
      first: async (bench) => {
        await hasRead('notes.txt')(bench);
        appendFileSync(join(bench.cwd, 'notes.txt'), 'delta\n');
      },
      input: change('notes.txt', 'beta', 'x'),
      end: 'failed',
      says: /changed since/,
      after: unchanged('notes.txt', `${NOTES}delta\n`),
    },
    'a missing passage': {
      first: hasRead('notes.txt'),
      input: change('notes.txt', 'omega', 'x'),
      end: 'failed',
      says: /is not in/,
      after: unchanged('notes.txt', NOTES),
    },
    'a repeated passage': {
      first: hasRead('notes.txt'),
      input: change('notes.txt', 'a', 'x'),
      end: 'failed',
      says: /occurs \d+ times/,
      after: unchanged('notes.txt', NOTES),
    },
    'a passage with too many occurrences': {
      first: hasRead('one-line.txt'),
      end: 'failed',
      says: /more than 100000 times/,
      input: { file_path: 'one-line.txt', old_string: 'x', new_string: 'y', replace_all: true },
    },
    'an empty passage': {
      first: hasRead('notes.txt'),
      input: change('notes.txt', '', 'x'),
      end: 'failed',
      says: /old_string is empty/,
    },
    'an edit without a change': {
      first: hasRead('notes.txt'),
      input: change('notes.txt', 'beta', 'beta'),
      end: 'failed',
      says: /nothing to change/,
    },
    'a lone surrogate': {
      first: hasRead('notes.txt'),
      input: change('notes.txt', 'beta', '\ud83d'),
      end: 'failed',
      says: /surrogate/,
      after: unchanged('notes.txt', NOTES),
    },
    'a file with CRLF and a byte order mark': {
      first: hasRead('crlf.txt'),
      input: change('crlf.txt', 'one\ntwo', 'uno\ndos'),
      end: 'ok',
      says: /Replaced/,
      after: unchanged('crlf.txt', '\ufeffuno\r\ndos\r\n'),
    },
    'bytes that are not UTF-8': {
      first: hasRead('latin1.txt'),
      input: change('latin1.txt', 'g', 'G'),
      end: 'failed',
      says: /is not text/,
      after: (bench) => expect(readFileSync(join(bench.cwd, 'latin1.txt'))[2]).toBe(0xfc),
    },
    'a link, by changing its target': {
      first: hasRead('link-in'),
      input: change('link-in', 'beta', 'BETA'),
      end: 'ok',
      says: /Replaced/,
      after(bench) {
        expect(textOf(bench, 'notes.txt')).toContain('BETA');
        expect(lstatSync(join(bench.cwd, 'link-in')).isSymbolicLink()).toBe(true);
      },
    },
    'a replacement of a megabyte': {
      first: hasRead('notes.txt'),
      input: change('notes.txt', 'beta', 'y'.repeat(1_000_000)),
      end: 'ok',
      says: /Replaced/,
      after: (_, { text }) => expect(text.length).toBeLessThan(10_000),
    },
    'a passage that the file nearly repeats a million times': {
      first: async (bench) => {
        writeFileSync(join(bench.cwd, 'same.txt'), 'a'.repeat(10_000_000));
        await hasRead('same.txt')(bench);
      },
      input: change('same.txt', `${'a'.repeat(10_000)}b${'a'.repeat(10_000)}`, 'x'),
      end: 'failed',
      says: /is not in/,
    },
    'a missing file': {
      input: change('nothing.txt', 'a', 'b'),
      end: 'failed',
      says: /no file at/,
    },
    'a pipe': { input: change('pipe', 'a', 'b'), end: 'failed', says: /device, pipe or socket/ },
    'a directory': { input: change('folder', 'a', 'b'), end: 'failed', says: /is a directory/ },
    'a sparse file of 100 MB': {
      input: change('sparse.bin', 'a', 'b'),
      end: 'failed',
      says: /too large/,
    },
    'a name with shell syntax': {
      first: hasRead('$(touch pwned);`touch pwned`.txt'),
      end: 'ok',
      says: /Replaced/,
      input: change('$(touch pwned);`touch pwned`.txt', 'odd', 'even'),
    },
    'a file that was removed since it was read': {
      first: async (bench) => {
        writeFileSync(join(bench.cwd, 'brief.txt'), 'here\n');
        await hasRead('brief.txt')(bench);
        rmSync(join(bench.cwd, 'brief.txt'));
      },
      input: change('brief.txt', 'here', 'there'),
      end: 'failed',
      says: /no file at/,
    },
  },
};
