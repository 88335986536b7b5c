/** Shows a file to the model: text with line numbers, pictures, PDFs and notebooks as such, other bytes by name. */
import { Buffer } from 'node:buffer';
import { z } from 'zod';
import {
  ARTIFACT_LIMIT,
  defineTool,
  type FileBytes,
  ToolFailure,
  type ToolOutcome,
} from '../../protocol/tools/tool.js';
import { type NotebookCell, parseNotebook } from '../notebooks/notebook.js';
import { looksLikeNotebook, showNotebook } from '../notebooks/show-notebook.js';
import { locate, orExplain, pathField } from './file-access.js';
import { fileKind } from './file-kind.js';
import { LARGEST_IMAGE } from './image-size.js';
import { linePage } from './line-numbers.js';
import { showPdf } from './show-pdf.js';

/** A full artifact and its end note must still fit. */
const LARGEST_FILE = ARTIFACT_LIMIT + 4_096;
const DEFAULT_LINES = 2_000;
const MAX_CHARACTERS = 100_000;

const PROMPT = `Reads one file.

- Text comes as numbered lines: the number, a tab, the line. The numbers are not part of the file.
- Up to ${DEFAULT_LINES} lines are shown from the start; use offset and limit for others.
- PNG, JPEG, GIF and WebP files are shown as pictures, PDF files as documents; other binary files are only named.
- A notebook (.ipynb) is shown cell by cell, with outputs; offset and limit then count cells.
- Directories cannot be read: use LS.`;

export const readFile = defineTool({
  name: 'Read',
  kind: 'builtin',
  prompt: PROMPT,
  input: z.strictObject({
    file_path: pathField('The file to read'),
    offset: z.int().min(0).optional().describe('First line to show, from 1.'),
    limit: z.int().min(1).optional().describe('How many lines to show.'),
  }),
  describe: ({ file_path }) => `Read ${file_path}`,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  subject: ({ file_path }) => ({ action: 'read', target: file_path }),
  interruptBehavior: 'cancel',
  async call({ file_path, offset = 1, limit = DEFAULT_LINES }, context) {
    const path = locate(file_path, context);
    const file = await orExplain(context.workspace.read(path, LARGEST_FILE));
    const first = Math.max(1, offset);
    return {
      content: show(path, file, first, limit),
      notes: [{ type: 'file.seen', path, stamp: file.stamp }],
      facts: { path, bytes: file.stamp.size, digest: file.stamp.digest },
    };
  },
});

const show = (path: string, { bytes }: FileBytes, first: number, limit: number) => {
  if (bytes.length === 0) return `${path} is empty.`;
  const file = fileKind(bytes);
  switch (file.kind) {
    case 'image':
      return showImage(path, bytes, file.mediaType);
    case 'pdf':
      return showPdf(path, bytes);
    case 'binary':
      return `${path} is not text (${file.guess}, ${bytes.length} bytes), so its contents are not shown. Bash can examine or convert it.`;
    case 'text':
      return looksLikeNotebook(path, file.text)
        ? showCells(path, file.text, first, limit)
        : showText(path, file.text, first, limit);
  }
};

/** A notebook that is broken is text all the same, and can be mended as such. */
const showCells = (path: string, text: string, first: number, limit: number) => {
  let cells: readonly NotebookCell[];
  try {
    ({ cells } = parseNotebook(path, text));
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return `[${error.message}]\n\n${showText(path, text, first, limit)}`;
  }
  return showNotebook(path, cells, first, limit);
};

const showText = (path: string, text: string, first: number, limit: number): string => {
  const page = linePage(text, { first, limit, maxCharacters: MAX_CHARACTERS });
  if (first > Math.max(1, page.total)) {
    throw new ToolFailure(
      `${path} has ${lines(page.total)}, so there is nothing at offset ${first}. Use a smaller offset.`,
    );
  }
  if (page.last >= page.total) return page.text;
  return `${page.text}\n\n[Lines ${first} to ${page.last} of ${page.total}. Read on with offset ${page.last + 1}.]`;
};

const showImage = (path: string, bytes: Uint8Array, mediaType: string): ToolOutcome['content'] => {
  if (bytes.length > LARGEST_IMAGE) {
    return `${path} is a picture (${mediaType}) of ${bytes.length} bytes; at most ${LARGEST_IMAGE} can be shown. Make a smaller copy with Bash and read that.`;
  }
  const data = Buffer.from(bytes).toString('base64');
  return [{ type: 'image', source: { type: 'base64', media_type: mediaType, data } }];
};

const lines = (count: number) => (count === 1 ? '1 line' : `${count} lines`);
