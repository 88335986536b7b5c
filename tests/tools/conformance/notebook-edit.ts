import { expect } from 'vitest';
import type { Bench } from './bench.js';
import { hasRead, textOf } from './edit.js';
import type { Case, Entry } from './entry.js';
import { NOTEBOOK } from './hostile-tree.js';

const cell = (more: object, notebook_path = 'notebook.ipynb') => ({
  notebook_path,
  new_source: 'print(3)',
  ...more,
});

const sourcesOf = (bench: Bench): readonly string[] =>
  (JSON.parse(textOf(bench, 'notebook.ipynb')) as Parsed).cells.map(({ source }) =>
    [source].flat().join(''),
  );

interface Parsed {
  readonly cells: readonly { readonly source: string | readonly string[] }[];
}

const changes = (more: object, sources: readonly string[]): Case => ({
  first: hasRead('notebook.ipynb'),
  input: cell(more),
  end: 'ok',
  says: /cells? now/,
  after: (bench) => expect(sourcesOf(bench)).toEqual(sources),
});

const refuses = (more: object, says: RegExp): Case => ({
  first: hasRead('notebook.ipynb'),
  input: cell(more),
  end: 'failed',
  says,
  after: (bench) => expect(textOf(bench, 'notebook.ipynb')).toBe(NOTEBOOK),
});

const [title, code] = ['# Title\n', 'print(1 + 1)\n'];

export const notebookEdit: Entry = {
  tool: 'NotebookEdit',
  first: hasRead('notebook.ipynb'),
  sample: cell({ cell_id: 'c1' }),
  whole: (bench) => expect(sourcesOf(bench)).toHaveLength(2),
  cases: {
    'a cell by its id': changes({ cell_id: 'c1' }, [title, 'print(3)']),
    'a cell by its number': changes({ cell_number: 0 }, ['print(3)', code]),
    'a new cell': changes({ edit_mode: 'insert', cell_id: 'm1' }, [title, 'print(3)', code]),
    'a deleted cell': changes({ edit_mode: 'delete', cell_id: 'm1', new_source: '' }, [code]),
    'a megabyte in a cell': changes({ cell_id: 'c1', new_source: 'z'.repeat(1_000_000) }, [
      title,
      'z'.repeat(1_000_000),
    ]),
    'an unknown id': refuses({ cell_id: 'c9' }, /no cell with the id c9/),
    'an unknown number': refuses({ cell_number: 2 }, /no number 2/),
    'a number and an id': refuses({ cell_number: 0, cell_id: 'm1' }, /not both/),
    'an edit without a cell': refuses({}, /Say which cell/),
    'a lone surrogate': refuses({ cell_id: 'c1', new_source: '\ud83d' }, /surrogate/),
    'an unread notebook': {
      input: cell({ cell_id: 'c1' }),
      end: 'failed',
      says: /Read it first/,
    },
    'an invalid notebook': {
      first: hasRead('broken.ipynb'),
      input: cell({ cell_number: 0 }, 'broken.ipynb'),
      end: 'failed',
      says: /broken\.ipynb/,
    },
    'a notebook of the wrong shape': {
      first: hasRead('strange.ipynb'),
      input: cell({ cell_number: 0 }, 'strange.ipynb'),
      end: 'failed',
      says: /strange\.ipynb/,
    },
    'a file that is not a notebook': {
      first: hasRead('notes.txt'),
      input: cell({ cell_number: 0 }, 'notes.txt'),
      end: 'failed',
      says: /notes\.txt/,
    },
    'a pipe': { input: cell({ cell_number: 0 }, 'pipe'), end: 'failed', says: /device, pipe/ },
    'a directory': { input: cell({ cell_number: 0 }, 'folder'), end: 'failed', says: /director/ },
  },
};
