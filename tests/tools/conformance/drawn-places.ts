/** Generators for properties that name a path: only paths of a bench. */
import fc from 'fast-check';
import type { Bench } from './bench.js';
import type { Draws } from './drawn-inputs.js';
import { ODD_NAMES } from './hostile-tree.js';

const PLACES = [
  'notes.txt',
  'empty.txt',
  'crlf.txt',
  'latin1.txt',
  'binary.bin',
  'picture.png',
  'cut.png',
  'one-line.txt',
  'many-lines.txt',
  'read-only.txt',
  'sparse.bin',
  'pipe',
  'socket',
  'zero',
  'notebook.ipynb',
  'broken.ipynb',
  'strange.ipynb',
  'broken.pdf',
  'link-out',
  'folder-out',
  'link-in',
  'dangling',
  'loop',
  'folder',
  'bare',
  '.',
  'deep',
  'new.txt',
  'new/deeper/file.txt',
  'notes.txt/below',
  './folder/../notes.txt',
  'folder/',
  ...ODD_NAMES,
] as const;

export const places = (bench: Bench): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(...PLACES),
    fc.constantFrom(...PLACES).map((name) => `${bench.cwd}/${name}`),
    fc.string({ minLength: 1, maxLength: 20 }).map((name) => `new/${name.replaceAll('..', '_')}`),
  );

export const drawsFor = (bench: Bench): Draws => ({
  file_path: places(bench),
  notebook_path: places(bench),
  path: places(bench),
});
