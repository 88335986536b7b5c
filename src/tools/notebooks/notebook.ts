/**
 * Notebook of Jupyter as text with the ranges of its cells. An edit replaces only the bytes of a
 * cell, because parsing and writing the file would change numbers, escapes and the order of keys.
 */
import { z } from 'zod';
import { ToolFailure } from '../../protocol/tools/tool.js';

const CellText = z.union([z.string(), z.array(z.string())]);

const Cell = z.looseObject({
  cell_type: z.enum(['code', 'markdown', 'raw']),
  id: z.string().optional(),
  source: CellText,
  outputs: z.array(z.looseObject({ output_type: z.string() })).optional(),
  execution_count: z.number().nullish(),
});

const NotebookFile = z.looseObject({
  nbformat: z.number(),
  nbformat_minor: z.number().optional(),
  cells: z.array(Cell),
});

export type NotebookCell = z.output<typeof Cell>;

export interface Notebook {
  readonly text: string;
  readonly cells: readonly NotebookCell[];
  /** Range of each cell in the text, end exclusive. */
  readonly spans: readonly Span[];
  /** Range of the list of cells, brackets included. */
  readonly list: Span;
  /** True from version 4.5 of the format, where each cell has an id. */
  readonly hasIds: boolean;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Throws ToolFailure if the text is not a notebook of version 4. */
export const parseNotebook = (path: string, text: string): Notebook => {
  const parsed = NotebookFile.safeParse(parseJson(path, text));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const where = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
    throw new ToolFailure(`${path} is not a Jupyter notebook of version 4${where}. ${AS_TEXT}`);
  }
  const { nbformat, nbformat_minor = 0, cells } = parsed.data;
  if (nbformat !== 4) {
    throw new ToolFailure(
      `${path} is a notebook of version ${nbformat}; only version 4 can be edited. Convert it with Bash: jupyter nbconvert --to notebook.`,
    );
  }
  const { list, spans } = cellSpans(text);
  return { text, cells, spans, list, hasIds: nbformat_minor >= 5 };
};

const AS_TEXT = 'Change it as text, with Edit.';

const parseJson = (path: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolFailure(`${path} is not valid JSON (${why.slice(0, 200)}). ${AS_TEXT}`);
  }
};

/** Joins a text of a cell, which is a string or a list of lines. */
export const joined = (text: string | readonly string[]): string =>
  typeof text === 'string' ? text : text.join('');

/** Splits text into lines that keep their line breaks, as the format requires. */
export const splitLines = (text: string): readonly string[] =>
  text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Finds the cells in valid notebook JSON. Of duplicate keys the last counts, as in JSON.parse. */
const cellSpans = (text: string): { readonly list: Span; readonly spans: readonly Span[] } => {
  let list: Span = { start: 0, end: 0 };
  for (const { key, value } of properties(text, text.indexOf('{'))) {
    if (key === 'cells') list = value;
  }
  return { list, spans: [...elements(text, list.start)] };
};

function* properties(text: string, open: number): Generator<{ key: unknown; value: Span }> {
  for (let at = skipBlank(text, open + 1); text[at] === '"'; ) {
    const end = endOfValue(text, at);
    const start = skipBlank(text, skipBlank(text, end) + 1);
    const value = { start, end: endOfValue(text, start) };
    yield { key: JSON.parse(text.slice(at, end)), value };
    at = skipComma(text, value.end);
  }
}

function* elements(text: string, open: number): Generator<Span> {
  for (let at = skipBlank(text, open + 1); text[at] !== ']'; ) {
    const value = { start: at, end: endOfValue(text, at) };
    yield value;
    at = skipComma(text, value.end);
  }
}

const skipBlank = (text: string, at: number): number => {
  let position = at;
  while (/[ \t\r\n]/.test(text[position] ?? '')) position += 1;
  return position;
};

const skipComma = (text: string, at: number): number => {
  const position = skipBlank(text, at);
  return text[position] === ',' ? skipBlank(text, position + 1) : position;
};

/** Returns the end of the JSON value that starts at `at`. */
const endOfValue = (text: string, at: number): number => {
  let depth = 0;
  for (let position = at; position < text.length; position += 1) {
    const character = text[position];
    if (character === '"') position = endOfText(text, position);
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (depth === 0 && character !== undefined) {
      // A number, true, false or null ends before the next delimiter.
      const rest = /[,\]}\s]/g;
      rest.lastIndex = position;
      return rest.exec(text)?.index ?? text.length;
    }
    if (depth === 0) return position + 1;
  }
  return text.length;
};

const endOfText = (text: string, open: number): number => {
  const quote = /\\[\s\S]|"/g;
  quote.lastIndex = open + 1;
  for (let found = quote.exec(text); found !== null; found = quote.exec(text)) {
    if (found[0] === '"') return found.index;
  }
  return text.length;
};
