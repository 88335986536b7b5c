/** Read: shows a file as numbered lines, picture, PDF document or notebook cells. */
import { Buffer } from 'node:buffer';
import { z } from 'zod';
import { MAX_ARTIFACT_BYTES } from '../../protocol/tools/artifact.js';
import { defineTool, ToolFailure, type ToolOutcome } from '../../protocol/tools/tool.js';
import type { FileBytes } from '../../protocol/tools/workspace.js';
import { fileKind } from '../file-access/file-kind.js';
import { MAX_IMAGE_BYTES } from '../file-access/image-size.js';
import { explainFileError, locateFile, pathField } from '../file-access/locate-file.js';
import { showPdf } from '../file-access/show-pdf.js';
import { type NotebookCell, parseNotebook } from '../notebooks/notebook.js';
import { looksLikeNotebook, showNotebook } from '../notebooks/show-notebook.js';
import { linePage } from '../text/line-page.js';

/** Maximum file size in bytes: a full artifact with its end note. */
const MAX_FILE_BYTES = MAX_ARTIFACT_BYTES + 4_096;
const DEFAULT_LINES = 2_000;
/** Below the limit of a result, 25,000 tokens, so that a page is never replaced by a preview. */
const MAX_PAGE_BYTES = 96_000;

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
  mentions: [{ of: ['LS'], text: ': use LS', instead: '' }],
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
    const path = locateFile(file_path, context);
    const file = await explainFileError(context.workspace.read(path, MAX_FILE_BYTES));
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

/** Shows a broken notebook as text, so that the model can fix it. */
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
  const page = linePage(text, { first, limit, maxBytes: MAX_PAGE_BYTES });
  if (first > Math.max(1, page.total)) {
    throw new ToolFailure(
      `${path} has ${lines(page.total)}, so there is nothing at offset ${first}. Use a smaller offset.`,
    );
  }
  if (page.last >= page.total) return page.text;
  return `${page.text}\n\n[Lines ${first} to ${page.last} of ${page.total}. Read on with offset ${page.last + 1}.]`;
};

const showImage = (path: string, bytes: Uint8Array, mediaType: string): ToolOutcome['content'] => {
  if (bytes.length > MAX_IMAGE_BYTES) {
    return `${path} is a picture (${mediaType}) of ${bytes.length} bytes; at most ${MAX_IMAGE_BYTES} can be shown. Make a smaller copy with Bash and read that.`;
  }
  const data = Buffer.from(bytes).toString('base64');
  return [{ type: 'image', source: { type: 'base64', media_type: mediaType, data } }];
};

const lines = (count: number) => (count === 1 ? '1 line' : `${count} lines`);
