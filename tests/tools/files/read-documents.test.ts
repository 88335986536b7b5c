import { describe, expect, test } from 'vitest';
import type { ResultBlock } from '../../../src/protocol/tools/tool.js';
import { readFile } from '../../../src/tools/files/read-file.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { toolContext } from '../tool-context.js';

const read = async (name: string, content: string | Uint8Array, page: object = {}) => {
  const context = toolContext(memoryWorkspace({ [`/work/${name}`]: content }));
  return (await readFile.call({ file_path: name, ...page }, context)).content;
};

const PDF = '%PDF-1.7\n1 0 obj\n<< /Type /Page >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF\n';

describe('Read of a PDF', () => {
  test('returns the document, detected by its first bytes and not by its name', async () => {
    const data = Buffer.from(PDF).toString('base64');
    expect(await read('a.txt', PDF)).toEqual([
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } },
    ]);
    expect(await read('a.pdf', 'just text')).toBe('     1\tjust text');
  });

  test.each([
    ['is cut short', PDF.slice(0, -10), 'cut short or damaged'],
    ['has only a first line', '%PDF-1.7', 'cut short or damaged'],
    ['is encrypted', PDF.replace('/Root', '/Encrypt 9 0 R /Root'), 'encrypted'],
    [
      'is too large',
      Buffer.concat([Buffer.from(PDF), Buffer.alloc(5_000_000)]),
      'more than the 4194304',
    ],
    ['has too many pages', PDF.replace('/Type /Page ', '/Type /Page '.repeat(101)), '101 pages'],
  ])('returns advice if the file %s', async (_, content, why) => {
    const text = await read('a.pdf', content);
    expect(text).toContain(why);
    expect(text).toContain('pdftotext');
  });
});

const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03', 'latin1').toString(
  'base64',
);

const notebookOf = (cells: readonly object[]) =>
  JSON.stringify({ nbformat: 4, nbformat_minor: 5, cells });

const code = (source: string | readonly string[], ...outputs: readonly object[]) => ({
  cell_type: 'code',
  id: 'c1',
  execution_count: 7,
  metadata: {},
  source,
  outputs,
});

const readNotebook = async (cells: readonly object[], page: object = {}) =>
  (await read('n.ipynb', notebookOf(cells), page)) as readonly ResultBlock[];

const textOf = (blocks: readonly ResultBlock[]) =>
  blocks.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n');

describe('Read of a notebook', () => {
  test('shows cells with number, kind, id, source and outputs', async () => {
    const blocks = await readNotebook([
      code(['a = 1\n', 'a'], { output_type: 'execute_result', data: { 'text/plain': ['1'] } }),
      { cell_type: 'markdown', metadata: {}, source: '# Title' },
    ]);
    expect(textOf(blocks)).toBe(
      '--- cell 0: code, id c1, run 7 ---\na = 1\na\n--- output of cell 0 ---\n1\n--- cell 1: markdown ---\n# Title',
    );
  });

  test('shows images as images, between the texts of their cells', async () => {
    const image = {
      output_type: 'display_data',
      data: { 'image/png': png, 'text/plain': 'Figure' },
    };
    const blocks = await readNotebook([code('plot()', image), code('x')]);
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'image', 'text']);
    expect(blocks[1]).toEqual({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: png },
    });
  });

  test('does not treat other bytes as an image', async () => {
    const data = {
      'image/png': Buffer.from('no picture').toString('base64'),
      'text/plain': 'Figure',
    };
    expect(textOf(await readNotebook([code('', { output_type: 'display_data', data })]))).toContain(
      'Figure',
    );
  });

  test('shows at most ten images', async () => {
    const image = { output_type: 'display_data', data: { 'image/png': png } };
    const blocks = await readNotebook(Array.from({ length: 12 }, () => code('', image)));
    expect(blocks.filter(({ type }) => type === 'image')).toHaveLength(10);
    expect(textOf(blocks)).toContain('[image/png of 24 bytes, too much to show here]');
  });

  test('shows errors without terminal colours, and names unsupported outputs', async () => {
    const error = {
      output_type: 'error',
      ename: 'E',
      evalue: 'v',
      traceback: ['\x1b[31mline\x1b[0m', 'E: v'],
    };
    const widget = { output_type: 'display_data', data: { 'application/x-widget': { a: 1 } } };
    const text = textOf(
      await readNotebook([code('', error, widget, { output_type: 'stream', text: 'out' })]),
    );
    expect(text).toContain('line\nE: v');
    expect(text).toContain('[application/x-widget, not shown]');
    expect(text).toContain('out');
  });

  test('is bounded, with the offset to continue', async () => {
    const cells = Array.from({ length: 200 }, () =>
      code('x'.repeat(5_000), { output_type: 'stream', text: 'y'.repeat(50_000) }),
    );
    const text = textOf(await readNotebook(cells));
    expect(text.length).toBeLessThan(400_000);
    const next = Number(/Read on with offset (\d+)/.exec(text)?.[1]);
    expect(textOf(await readNotebook(cells, { offset: next }))).toMatch(
      `--- cell ${next - 1}: code`,
    );
    expect(textOf(await readNotebook(cells, { offset: 200 }))).not.toContain('Read on');
    await expect(readNotebook(cells, { offset: 201 })).rejects.toThrow('has 200 cells');
  });

  test('counts cells with offset and limit', async () => {
    const cells = ['a', 'b', 'c'].map((source) => code(source));
    expect(textOf(await readNotebook(cells, { offset: 2, limit: 1 }))).toBe(
      '--- cell 1: code, id c1, run 7 ---\nb\n[Cells 1 to 1 of 3, counted from 0. Read on with offset 3.]',
    );
    expect(textOf(await readNotebook([]))).toContain('without cells');
  });

  test.each(['{"cells": [', '{"nbformat": 4}', '{"nbformat": 4, "cells": [1]}', '{}'])(
    'shows the invalid notebook %s as text, with the problem',
    async (text) => {
      expect(await read('n.ipynb', text)).toMatch(/^\[.* is not .*\]\n\n {5}1\t\{/);
    },
  );

  test('shows a file with that extension that is not JSON as text', async () => {
    expect(await read('n.ipynb', 'plain')).toBe('     1\tplain');
    expect(await read('n.ipynb', '')).toContain('is empty');
  });
});
