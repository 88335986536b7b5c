import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFile } from '../../../src/tools/files/read-file.js';
import { editNotebook } from '../../../src/tools/notebooks/edit-notebook.js';
import { memoryWorkspace } from '../../fakes/memory-workspace.js';
import { toolContext } from '../tool-context.js';

const PATH = '/work/n.ipynb';

/**
 * Written by hand, with details that a parser would not keep: the number 1.0, an escape, spaces.
 */
const notebook = (minor = 5, id = (name: string) => `\n   "id": "${name}",`) => `{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 3,${id('aaa')}
   "metadata": {"weight": 1.0},
   "outputs": [{"output_type": "stream", "name": "stdout", "text": ["hi\\n"]}],
   "source": [
    "print(\\"hi\\")\\n",
    "x = 1"
   ]
  },
  {
   "cell_type": "markdown",${id('bbb')}
   "metadata": {},
   "source": "# caf\\u00e9 ]}"
  }
 ],
 "metadata": {  "version": 1.0 },
 "nbformat": 4,
 "nbformat_minor": ${minor}
}
`;

const change = async (text: string, input: object) => {
  const workspace = memoryWorkspace({ [PATH]: text });
  const context = toolContext(workspace);
  context.applyNotes(await readFile.call({ file_path: PATH }, context));
  const outcome = await editNotebook.call(
    { notebook_path: 'n.ipynb', new_source: '', ...input },
    context,
  );
  const after = workspace.text(PATH) ?? '';
  return { outcome, text: after, cells: JSON.parse(after).cells };
};

describe('NotebookEdit', () => {
  test('replaces a cell, clears its outputs and keeps all other bytes', async () => {
    const { text, cells, outcome } = await change(notebook(), {
      cell_id: 'aaa',
      new_source: 'y = 2\nz',
    });
    expect(cells[0]).toEqual({
      cell_type: 'code',
      execution_count: null,
      id: 'aaa',
      metadata: { weight: 1 },
      outputs: [],
      source: ['y = 2\n', 'z'],
    });
    const rest = (whole: string) => whole.slice(whole.indexOf('  {\n   "cell_type": "markdown"'));
    expect(rest(text)).toBe(rest(notebook()));
    expect(text).toContain('   "source": [\n    "y = 2\\n",\n    "z"\n   ]\n  },\n  {\n');
    expect(outcome.content).toBe(`Replaced cell 0 (id aaa) of ${PATH}. It has 2 cells now.`);
  });

  test('keeps a source that is a string as a string', async () => {
    const { cells } = await change(notebook(), { cell_number: 1, new_source: 'a\nb' });
    expect(cells[1]).toMatchObject({ cell_type: 'markdown', source: 'a\nb' });
    expect(cells[1]).not.toHaveProperty('outputs');
  });

  test('changes the type of a cell', async () => {
    const markdown = await change(notebook(), { cell_number: 0, cell_type: 'markdown' });
    expect(Object.keys(markdown.cells[0])).toEqual(['cell_type', 'id', 'metadata', 'source']);
    const code = await change(notebook(), { cell_number: 1, cell_type: 'code' });
    expect(code.cells[1]).toMatchObject({ cell_type: 'code', outputs: [], execution_count: null });
  });

  test.each([
    [{}, ['NEW', 'aaa', 'bbb']],
    [{ cell_id: 'aaa' }, ['aaa', 'NEW', 'bbb']],
    [{ cell_id: 'bbb' }, ['aaa', 'bbb', 'NEW']],
    [{ cell_number: 1 }, ['aaa', 'NEW', 'bbb']],
    [{ cell_number: 2 }, ['aaa', 'bbb', 'NEW']],
  ])('inserts a cell at %o', async (place, ids) => {
    const { cells, text } = await change(notebook(), {
      ...place,
      edit_mode: 'insert',
      new_source: 'n',
    });
    const found = cells.map(({ id, source }: { id: string; source: unknown }) =>
      JSON.stringify(source) === '["n"]' ? 'NEW' : id,
    );
    expect(found).toEqual(ids);
    expect(text).toContain('"metadata": {  "version": 1.0 }');
    expect(text).toContain('caf\\u00e9');
  });

  test('gives new cells deterministic ids if the format has ids', async () => {
    const insert = (minor: number) =>
      change(notebook(minor), { edit_mode: 'insert', new_source: 'n' });
    const [first, second, old] = [await insert(5), await insert(5), await insert(4)];
    expect(first.cells[0].id).toMatch(/^[0-9a-f]{8}$/);
    expect(second.text).toBe(first.text);
    expect(old.cells[0]).not.toHaveProperty('id');
  });

  test('deletes all cells, and inserts into an empty list', async () => {
    const first = await change(notebook(), { cell_number: 0, edit_mode: 'delete' });
    expect(first.cells.map(({ id }: { id: string }) => id)).toEqual(['bbb']);
    const last = await change(notebook(), { cell_number: 1, edit_mode: 'delete' });
    expect(last.cells.map(({ id }: { id: string }) => id)).toEqual(['aaa']);
    const none = await change(first.text, { cell_id: 'bbb', edit_mode: 'delete' });
    expect(none.cells).toEqual([]);
    const filled = await change(none.text, {
      edit_mode: 'insert',
      new_source: 'n',
      cell_type: 'raw',
    });
    expect(filled.cells).toMatchObject([{ cell_type: 'raw', source: ['n'] }]);
    expect(filled.text).toContain(' "cells": [\n  {\n   "cell_type": "raw"');
  });

  test('keeps a notebook on a single line, and Windows line endings', async () => {
    const compact = JSON.stringify(JSON.parse(notebook()));
    const { text } = await change(compact, { cell_number: 0, new_source: 'a\nb' });
    expect(text).not.toContain('\n');
    const windows = await change(notebook().replaceAll('\n', '\r\n'), { edit_mode: 'insert' });
    expect(windows.text.replaceAll('\r\n', '')).not.toContain('\n');
  });

  test('leaves valid JSON with the expected cells for any texts', async () => {
    const piece = fc.constantFrom(
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      '\n',
      'é',
      '\u2028',
      'x',
      '\\"',
    );
    const source = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''));
    const cell = source.map((text) => ({
      cell_type: 'raw',
      metadata: { [text]: [text, { a: text }] },
      source: text,
    }));
    const indent = fc.constantFrom(0, 1, 2, 4, '\t');
    const mode = fc.constantFrom('replace', 'insert', 'delete');
    await fc.assert(
      fc.asyncProperty(
        fc.array(cell, { minLength: 1, maxLength: 4 }),
        indent,
        mode,
        source,
        fc.nat(3),
        async (cells, space, edit_mode, new_source, at) => {
          const cell_number = at % cells.length;
          const content = { nbformat: 4, nbformat_minor: 2, metadata: { cells: [] }, cells };
          const before = JSON.stringify(content, null, space);
          const after = await change(before, { edit_mode, new_source, cell_number });
          const expected = cells.map((cell) => cell.source);
          const replacement = edit_mode === 'delete' ? [] : [new_source];
          expected.splice(cell_number, edit_mode === 'insert' ? 0 : 1, ...replacement);
          const found = after.cells.map(({ source: text }: { source: string | string[] }) =>
            typeof text === 'string' ? text : text.join(''),
          );
          expect(found).toEqual(expected);
          // The text equals its own formatting, so no other byte has moved.
          expect(after.text).toBe(JSON.stringify(JSON.parse(after.text), null, space));
        },
      ),
    );
  });

  test.each([
    ['{"cells": [', {}, 'is not valid JSON'],
    ['[]', {}, 'is not a Jupyter notebook'],
    ['{"nbformat": 4}', {}, 'is not a Jupyter notebook'],
    [
      '{"nbformat": 4, "cells": [{"cell_type": "x", "source": ""}]}',
      {},
      'is not a Jupyter notebook',
    ],
    ['{"nbformat": 3, "cells": []}', {}, 'notebook of version 3'],
    [notebook(), {}, 'Say which cell to replace'],
    [notebook(), { edit_mode: 'delete' }, 'Say which cell to delete'],
    [notebook(), { cell_id: 'zzz' }, 'no cell with the id zzz'],
    [notebook(), { cell_number: 2 }, 'has 2 cells, counted from 0, so there is no number 2'],
    [notebook(), { cell_number: 3, edit_mode: 'insert' }, 'there is no number 3'],
    [notebook(), { cell_id: 'aaa', cell_number: 0 }, 'not both'],
    [notebook(), { cell_number: 0, new_source: '\udc00' }, 'half of a surrogate pair'],
  ])('refuses %j with %o', async (text, input, sentence) => {
    await expect(change(text, input)).rejects.toThrow(sentence);
  });

  test('refuses an unread file and a changed file', async () => {
    const workspace = memoryWorkspace({ [PATH]: notebook() });
    const context = toolContext(workspace);
    const input = { notebook_path: PATH, new_source: '', cell_number: 0 };
    await expect(editNotebook.call(input, context)).rejects.toThrow('You have not read');
    context.applyNotes(await readFile.call({ file_path: PATH }, context));
    workspace.put(PATH, notebook(4));
    await expect(editNotebook.call(input, context)).rejects.toThrow('changed since you read it');
  });
});
