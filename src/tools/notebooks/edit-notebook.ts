/**
 * NotebookEdit: replaces, inserts or deletes a cell of a Jupyter notebook and keeps all other
 * bytes.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineTool, ToolFailure } from '../../protocol/tools/tool.js';
import { encodeFileText } from '../file-access/file-text.js';
import { pathField } from '../file-access/locate-file.js';
import { openForEdit, saveEdit } from '../file-access/open-for-edit.js';
import { truncateLine } from '../text/truncate-text.js';
import { type Notebook, type NotebookCell, parseNotebook, splitLines } from './notebook.js';

const PROMPT = `Changes one cell of a Jupyter notebook (.ipynb). Read it first: that shows the number (from 0) and the id of each cell.

- edit_mode "replace" (the default) gives the cell new_source and clears the outputs of a code cell.
- "insert" puts a new cell after the one with cell_id, or makes it number cell_number; with neither it becomes the first.
- "delete" removes the cell; pass an empty new_source.`;

const CELL_TYPES = ['code', 'markdown', 'raw'] as const;

export const editNotebook = defineTool({
  name: 'NotebookEdit',
  kind: 'builtin',
  prompt: PROMPT,
  mentions: [
    {
      of: ['Read'],
      text: 'Read it first: that shows the number (from 0) and the id of each cell.',
      instead: 'Cells are numbered from 0.',
    },
  ],
  input: z.strictObject({
    notebook_path: pathField('The notebook to change'),
    cell_id: z.string().min(1).optional().describe('Id of the cell.'),
    cell_number: z.int().min(0).optional().describe('Or its number, from 0.'),
    new_source: z.string().describe('All of its new text.'),
    cell_type: z.enum(CELL_TYPES).optional().describe('Default: unchanged; code for a new cell.'),
    edit_mode: z.enum(['replace', 'insert', 'delete']).optional().describe('Default: replace.'),
  }),
  describe: ({ notebook_path }) => `NotebookEdit ${notebook_path}`,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  subject: ({ notebook_path }) => ({ action: 'write', target: notebook_path }),
  interruptBehavior: 'block',
  async call(
    { notebook_path, new_source, cell_type, edit_mode = 'replace', ...position },
    context,
  ) {
    // JSON would write half of a surrogate pair as an escape that other programs cannot read.
    encodeFileText(new_source, 'new_source');
    const file = await openForEdit(notebook_path, context);
    const notebook = parseNotebook(file.path, file.text);
    const at = positionOf(notebook, position, edit_mode, file.path);
    const change = { source: new_source, type: cell_type };
    const text = CHANGES[edit_mode](notebook, at, change);
    const { stamp, notes } = await saveEdit(file, text, 'new_source', context);
    const cells = parseNotebook(file.path, text).cells;
    const id = edit_mode === 'delete' ? undefined : cells[at]?.id;
    const name = `cell ${at}${id === undefined ? '' : ` (id ${id})`}`;
    const count = cells.length === 1 ? 'one cell' : `${cells.length} cells`;
    return {
      content: `${DONE[edit_mode]} ${name} of ${file.path}. It has ${count} now.`,
      notes,
      facts: { path: file.path, mode: edit_mode, cell: at, digest: stamp.digest },
    };
  },
});

type Mode = 'replace' | 'insert' | 'delete';

const DONE = { replace: 'Replaced', insert: 'Inserted', delete: 'Deleted' } as const;

interface CellPosition {
  readonly cell_id?: string | undefined;
  readonly cell_number?: number | undefined;
}

/** Returns the number of the changed or new cell. Throws ToolFailure if there is no such cell. */
const positionOf = (
  { cells }: Notebook,
  { cell_id, cell_number }: CellPosition,
  mode: Mode,
  path: string,
): number => {
  if (cell_id !== undefined && cell_number !== undefined) {
    throw new ToolFailure('Give cell_id or cell_number, not both.');
  }
  if (cell_id !== undefined) {
    const found = cells.findIndex(({ id }) => id === cell_id);
    if (found === -1) {
      throw new ToolFailure(
        `There is no cell with the id ${truncateLine(cell_id, 100)} in ${path}. Read it again.`,
      );
    }
    return mode === 'insert' ? found + 1 : found;
  }
  if (cell_number === undefined) {
    if (mode === 'insert') return 0;
    throw new ToolFailure(`Say which cell to ${mode}: give cell_id or cell_number.`);
  }
  const last = mode === 'insert' ? cells.length : cells.length - 1;
  if (cell_number <= last) return cell_number;
  throw new ToolFailure(
    `${path} has ${cells.length} cells, counted from 0, so there is no number ${cell_number}. Read it again.`,
  );
};

interface CellChange {
  readonly source: string;
  readonly type: NotebookCell['cell_type'] | undefined;
}

const CHANGES: Readonly<
  Record<Mode, (notebook: Notebook, at: number, change: CellChange) => string>
> = {
  replace(notebook, at, change) {
    const { text, spans } = notebook;
    const span = spans[at];
    if (span === undefined) return text;
    // Parse again, because the schema changes the order of keys.
    const cell = JSON.parse(text.slice(span.start, span.end)) as NotebookCell;
    return splice(text, span.start, span.end, written(notebook, replaced(cell, change)));
  },
  insert(notebook, at, change) {
    const { text, spans, list } = notebook;
    const cell = written(notebook, newCell(notebook, at, change));
    const { cell: gap, list: edge } = gaps(notebook);
    const next = spans[at];
    if (next !== undefined) return splice(text, next.start, next.start, `${cell},${gap}`);
    const last = spans.at(-1);
    if (last !== undefined) return splice(text, last.end, last.end, `,${gap}${cell}`);
    return splice(text, list.start, list.end, `[${gap}${cell}${edge}]`);
  },
  delete({ text, spans, list }, at) {
    const [before, span, after] = [spans[at - 1], spans[at], spans[at + 1]];
    if (span === undefined) return text;
    if (after !== undefined) return splice(text, span.start, after.start, '');
    if (before !== undefined) return splice(text, before.end, span.end, '');
    return splice(text, list.start, list.end, '[]');
  },
};

const splice = (text: string, start: number, end: number, piece: string) =>
  text.slice(0, start) + piece + text.slice(end);

/** Clears the outputs, because they belong to the old source. */
const replaced = (cell: NotebookCell, { source, type }: CellChange): Record<string, unknown> => {
  const { outputs: _, execution_count: __, ...rest } = cell;
  const kind = type ?? cell.cell_type;
  const text = typeof cell.source === 'string' ? source : splitLines(source);
  const fields = kind === 'code' ? { ...cell, execution_count: null, outputs: [] } : rest;
  return { ...fields, cell_type: kind, source: text };
};

/** Creates a cell with its keys in the order of Jupyter. */
const newCell = (notebook: Notebook, at: number, { source, type = 'code' }: CellChange) => ({
  cell_type: type,
  ...(type === 'code' && { execution_count: null }),
  ...(notebook.hasIds && { id: freshId(notebook, at, source) }),
  metadata: {},
  ...(type === 'code' && { outputs: [] }),
  source: splitLines(source),
});

/**
 * Derives the id from the contents, so that the same call on the same file writes the same bytes.
 */
const freshId = ({ text, cells }: Notebook, at: number, source: string): string => {
  const taken = new Set(cells.map(({ id }) => id));
  for (let round = 0; ; round += 1) {
    const seed = JSON.stringify([round, at, source, text]);
    const id = createHash('sha256').update(seed).digest('hex').slice(0, 8);
    if (!taken.has(id)) return id;
  }
};

/** Serialises the cell in the format of the file: indented or on one line. */
const written = (notebook: Notebook, cell: Record<string, unknown>): string => {
  const { indent, cell: gap } = gaps(notebook);
  return JSON.stringify(cell, null, indent).replaceAll('\n', gap);
};

/** Returns the white space between brackets and cells; empty for a file on one line. */
const gaps = ({ text }: Notebook) => {
  const found = /^\s*\{(\r?\n)([ \t]*)"/.exec(text);
  const [newline = '', indent = ''] = [found?.[1], found?.[2]];
  return { indent, list: newline + indent, cell: newline + indent + indent };
};
