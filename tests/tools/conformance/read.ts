import type { Entry } from './entry.js';

const numbered = (text: string) => new RegExp(text.replaceAll('→', '\\t'));

export const read: Entry = {
  tool: 'Read',
  sample: { file_path: 'notes.txt' },
  cases: {
    'a file with numbered lines': {
      input: { file_path: 'notes.txt' },
      end: 'ok',
      says: numbered('     1→alpha\n     2→beta\n     3→gamma$'),
    },
    'a path with dots in it': {
      input: { file_path: 'folder/../notes.txt' },
      end: 'ok',
      says: /alpha/,
    },
    'an offset past the end': {
      input: { file_path: 'notes.txt', offset: 1_000_000 },
      end: 'failed',
      says: /has 3 lines.*smaller offset/,
    },
    'the largest numbers': {
      input: { file_path: 'notes.txt', offset: Number.MAX_SAFE_INTEGER, limit: 1 },
      end: 'failed',
      says: /smaller offset/,
    },
    'an empty file': { input: { file_path: 'empty.txt' }, end: 'ok', says: /is empty/ },
    'a byte order mark and CRLF': {
      input: { file_path: 'crlf.txt' },
      end: 'ok',
      says: /\tone\r?\n/,
    },
    'invalid UTF-8': { input: { file_path: 'latin1.txt' }, end: 'ok', says: /not text/ },
    'binary bytes': { input: { file_path: 'binary.bin' }, end: 'ok', says: /not text/ },
    'an image': { input: { file_path: 'picture.png' }, end: 'ok', says: /^\(image\)$/ },
    'a truncated image': {
      input: { file_path: 'cut.png' },
      end: 'ok',
      says: /broken header/,
    },
    'a line of two million characters': {
      input: { file_path: 'one-line.txt' },
      end: 'ok',
      says: /more characters in this line/,
    },
    'a hundred thousand lines': {
      input: { file_path: 'many-lines.txt' },
      end: 'ok',
      says: /of 100000\. Read on with/,
    },
    'a sparse file of 100 MB': {
      input: { file_path: 'sparse.bin' },
      end: 'failed',
      says: /too large/,
    },
    'a pipe': { input: { file_path: 'pipe' }, end: 'failed', says: /device, pipe or socket/ },
    'a socket': { input: { file_path: 'socket' }, end: 'failed', says: /device, pipe or socket/ },
    'a link to a device': { input: { file_path: 'zero' }, end: 'failed', says: /device, pipe/ },
    'a directory': { input: { file_path: 'folder' }, end: 'failed', says: /is a directory/ },
    'a file used as a directory': {
      input: { file_path: 'notes.txt/below' },
      end: 'failed',
      says: /no file at/,
    },
    'a dangling link': {
      input: { file_path: 'dangling' },
      end: 'failed',
      says: /no file at/,
    },
    'a link to itself': { input: { file_path: 'loop' }, end: 'failed', says: /could not be used/ },
    'a too long name': {
      input: { file_path: 'n'.repeat(5_000) },
      end: 'failed',
      says: /at most 4096/,
    },
    'a NUL in the name': { input: { file_path: 'a\0b' }, end: 'failed', says: /NUL/ },
    'a name with line breaks': { input: { file_path: 'two\nlines.txt' }, end: 'ok', says: /odd:/ },
    'a name with shell syntax': {
      input: { file_path: '$(touch pwned);`touch pwned`.txt' },
      end: 'ok',
      says: /odd:/,
    },
    'a name that looks like an option': { input: { file_path: '--help' }, end: 'ok', says: /odd:/ },
    'a broken PDF': { input: { file_path: 'broken.pdf' }, end: 'ok', says: /cut short or damaged/ },
    'a notebook': { input: { file_path: 'notebook.ipynb' }, end: 'ok', says: /print\(1 \+ 1\)/ },
    'an invalid notebook': {
      input: { file_path: 'broken.ipynb' },
      end: 'ok',
      says: /not valid JSON[\s\S]*"cells"/,
    },
    'a notebook of the wrong shape': {
      input: { file_path: 'strange.ipynb' },
      end: 'ok',
      says: /not a Jupyter notebook[\s\S]*"cells"/,
    },
    'a file that reports size zero': {
      input: { file_path: '/proc/self/status' },
      end: 'ok',
      says: /Name:/,
    },
    'a file without an end': {
      input: { file_path: '/dev/urandom' },
      end: 'failed',
      says: /device, pipe or socket/,
    },
  },
};
