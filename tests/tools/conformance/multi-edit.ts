import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { hasRead, textOf } from './edit.js';
import type { Case, Entry } from './entry.js';
import { NOTES } from './hostile-tree.js';

type Pair = readonly [old_string: string, new_string: string];

const edits = (...pairs: readonly Pair[]) => ({
  file_path: 'notes.txt',
  edits: pairs.map(([old_string, new_string]) => ({ old_string, new_string })),
});

const changes = (result: string, ...pairs: readonly Pair[]): Case => ({
  first: hasRead('notes.txt'),
  input: edits(...pairs),
  end: 'ok',
  says: /Replaced/,
  after: (bench) => expect(textOf(bench, 'notes.txt')).toBe(result),
});

const refuses = (says: RegExp, ...pairs: readonly Pair[]): Case => ({
  first: hasRead('notes.txt'),
  input: edits(...pairs),
  end: 'failed',
  says,
  after: (bench) => expect(textOf(bench, 'notes.txt')).toBe(NOTES),
});

const both = edits(['alpha', 'A'], ['gamma', 'C']);

export const multiEdit: Entry = {
  tool: 'MultiEdit',
  first: hasRead('notes.txt'),
  sample: both,
  whole: (bench) => expect([NOTES, 'A\nbeta\nC\n']).toContain(textOf(bench, 'notes.txt')),
  cases: {
    'several edits': changes('A\nbeta\nC\n', ['alpha', 'A'], ['gamma', 'C']),
    'an edit of the result of an earlier edit': changes(
      'b\nbeta\ngamma\n',
      ['alpha', 'a1'],
      ['a1', 'b'],
    ),
    'a failing edit, by changing no text': refuses(
      /Edit 2 of 3 failed, so nothing was changed/,
      ['alpha', 'A'] as const,
      ['omega', 'O'] as const,
      ['gamma', 'C'] as const,
    ),
    'an empty passage': refuses(/Edit 1 of 1.*empty/, ['', 'x']),
    'an edit without a change': refuses(/Edit 1 of 1.*nothing to change/, ['beta', 'beta']),
    'a lone surrogate': refuses(/surrogate/, ['alpha', 'A'], ['beta', '\ud83d']),
    'ten thousand edits': {
      input: edits(...Array.from({ length: 10_000 }, () => ['a', 'b'] as const)),
      end: 'invalid',
      says: /"edits"/,
    },
    'no edits': { input: edits(), end: 'invalid', says: /"edits"/ },
    'an unread file': { input: both, end: 'failed', says: /Read it first/ },
    'a file that changed since it was read': {
      first: async (bench) => {
        await hasRead('notes.txt')(bench);
        appendFileSync(join(bench.cwd, 'notes.txt'), 'delta\n');
      },
      input: both,
      end: 'failed',
      says: /changed since/,
      after: (bench) => expect(textOf(bench, 'notes.txt')).toBe(`${NOTES}delta\n`),
    },
    'a hundred thousand passages, three times': {
      first: hasRead('many-lines.txt'),
      input: {
        file_path: 'many-lines.txt',
        edits: Array.from({ length: 3 }, (_, index) => ({
          old_string: index % 2 ? 'LINE' : 'line',
          new_string: index % 2 ? 'line' : 'LINE',
          replace_all: true,
        })),
      },
      end: 'ok',
      says: /Replaced 300000 passages/,
    },
    'a pipe': { input: { ...both, file_path: 'pipe' }, end: 'failed', says: /device, pipe/ },
    'a directory': { input: { ...both, file_path: 'folder' }, end: 'failed', says: /director/ },
    'a sparse file of 100 MB': {
      input: { ...both, file_path: 'sparse.bin' },
      end: 'failed',
      says: /too large/,
    },
  },
};
