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
  test('hands over the document, by its first bytes and not by its name', async () => {
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
  ])('says what to do with one that %s', async (_, content, why) => {
    const said = await read('a.pdf', content);
    expect(said).toContain(why);
    expect(said).toContain('pdftotext');
  });
});

const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03', 'latin1').toString(
  'base64',
);

const book = (cells: readonly object[]) =>
  JSON.stringify({ nbformat: 4, nbformat_minor: 5, cells });

const code = (source: string | readonly string[], ...outputs: readonly object[]) => ({
  cell_type: 'code',
  id: 'c1',
  execution_count: 7,
  metadata: {},
  source,
  outputs,
});

const shown = async (cells: readonly object[], page: object = {}) =>
  (await read('n.ipynb', book(cells), page)) as readonly ResultBlock[];

const textOf = (blocks: readonly ResultBlock[]) =>
  blocks.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n');

describe('Read of a notebook', () => {
  test('shows cells with number, kind, id, source and outputs', async () => {
    const blocks = await shown([
      code(['a = 1\n', 'a'], { output_type: 'execute_result', data: { 'text/plain': ['1'] } }),
      { cell_type: 'markdown', metadata: {}, source: '# Title' },
    ]);
    expect(textOf(blocks)).toBe(
      '--- cell 0: code, id c1, run 7 ---\na = 1\na\n--- output of cell 0 ---\n1\n--- cell 1: markdown ---\n# Title',
    );
  });

  test('shows pictures as pictures, between the texts they belong to', async () => {
    const image = {
      output_type: 'display_data',
      data: { 'image/png': png, 'text/plain': 'Figure' },
    };
    const blocks = await shown([code('plot()', image), code('x')]);
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'image', 'text']);
    expect(blocks[1]).toEqual({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: png },
    });
  });

  test('does not take other bytes for a picture', async () => {
    const data = {
      'image/png': Buffer.from('no picture').toString('base64'),
      'text/plain': 'Figure',
    };
    expect(textOf(await shown([code('', { output_type: 'display_data', data })]))).toContain(
      'Figure',
    );
  });

  test('shows at most ten pictures', async () => {
    const image = { output_type: 'display_data', data: { 'image/png': png } };
    const blocks = await shown(Array.from({ length: 12 }, () => code('', image)));
    expect(blocks.filter(({ type }) => type === 'image')).toHaveLength(10);
    expect(textOf(blocks)).toContain('[image/png of 24 bytes, too much to show here]');
  });

  test('shows errors without the colours of a terminal, and names what it cannot show', async () => {
    const error = {
      output_type: 'error',
      ename: 'E',
      evalue: 'v',
      traceback: ['\x1b[31mline\x1b[0m', 'E: v'],
    };
    const widget = { output_type: 'display_data', data: { 'application/x-widget': { a: 1 } } };
    const said = textOf(
      await shown([code('', error, widget, { output_type: 'stream', text: 'out' })]),
    );
    expect(said).toContain('line\nE: v');
    expect(said).toContain('[application/x-widget, not shown]');
    expect(said).toContain('out');
  });

  test('stays within its bounds, and says how to read on', async () => {
    const cells = Array.from({ length: 200 }, () =>
      code('x'.repeat(5_000), { output_type: 'stream', text: 'y'.repeat(50_000) }),
    );
    const said = textOf(await shown(cells));
    expect(said.length).toBeLessThan(400_000);
    const next = Number(/Read on with offset (\d+)/.exec(said)?.[1]);
    expect(textOf(await shown(cells, { offset: next }))).toMatch(`--- cell ${next - 1}: code`);
    expect(textOf(await shown(cells, { offset: 200 }))).not.toContain('Read on');
    await expect(shown(cells, { offset: 201 })).rejects.toThrow('has 200 cells');
  });

  test('counts cells with offset and limit', async () => {
    const cells = ['a', 'b', 'c'].map((source) => code(source));
    expect(textOf(await shown(cells, { offset: 2, limit: 1 }))).toBe(
      '--- cell 1: code, id c1, run 7 ---\nb\n[Cells 1 to 1 of 3, counted from 0. Read on with offset 3.]',
    );
    expect(textOf(await shown([]))).toContain('without cells');
  });

  test.each(['{"cells": [', '{"nbformat": 4}', '{"nbformat": 4, "cells": [1]}', '{}'])(
    'shows the broken notebook %s as text, and says what is wrong',
    async (text) => {
      expect(await read('n.ipynb', text)).toMatch(/^\[.* is not .*\]\n\n {5}1\t\{/);
    },
  );

  test('shows a file of that name that is no JSON as the text it is', async () => {
    expect(await read('n.ipynb', 'plain')).toBe('     1\tplain');
    expect(await read('n.ipynb', '')).toContain('is empty');
  });
});
