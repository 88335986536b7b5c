/** Shows a notebook for Read: each cell with number, id, source and outputs, within limits. */
import { Buffer } from 'node:buffer';
import { type ResultBlock, ToolFailure } from '../../protocol/tools/tool.js';
import { fileKind } from '../file-access/file-kind.js';
import { truncateMiddle } from '../text/truncate-text.js';
import { joined, type NotebookCell } from './notebook.js';

const MAX_CHARACTERS = 100_000;
const MAX_SOURCE = 20_000;
const MAX_OUTPUT = 4_000;
const MAX_OUTPUTS = 20;
const MAX_IMAGES = 10;
const IMAGE_BYTES = 1_000_000;
const ALL_IMAGE_BYTES = 4_000_000;

/** True if the name is that of a notebook and the text starts like JSON. */
export const looksLikeNotebook = (path: string, text: string): boolean =>
  /\.ipynb$/i.test(path) && /^\s*\{/.test(text);

/** `first` is counted from 1, as for lines. Throws ToolFailure if it is past the end. */
export const showNotebook = (
  path: string,
  cells: readonly NotebookCell[],
  first: number,
  limit: number,
): readonly ResultBlock[] => {
  if (first > Math.max(1, cells.length)) {
    throw new ToolFailure(
      `${path} has ${cells.length} cells, so there is nothing at offset ${first}. Use a smaller offset.`,
    );
  }
  const page = new Page();
  let last = first - 1;
  for (const cell of cells.slice(first - 1, first - 1 + limit)) {
    if (page.isFull) break;
    page.addCell(cell, last);
    last += 1;
  }
  if (cells.length === 0) page.text(`${path} is a notebook without cells.`);
  else if (last < cells.length) {
    page.text(
      `[Cells ${first - 1} to ${last - 1} of ${cells.length}, counted from 0. Read on with offset ${last + 1}.]`,
    );
  }
  return page.blocks;
};

type Output = NonNullable<NotebookCell['outputs']>[number];

class Page {
  readonly blocks: ResultBlock[] = [];
  private characters = 0;
  private images = 0;
  private imageBytes = 0;

  get isFull(): boolean {
    return this.characters > MAX_CHARACTERS;
  }

  text(text: string): void {
    this.characters += text.length + 1;
    const last = this.blocks.at(-1);
    if (last?.type !== 'text') this.blocks.push({ type: 'text', text });
    else this.blocks[this.blocks.length - 1] = { type: 'text', text: `${last.text}\n${text}` };
  }

  addCell(cell: NotebookCell, number: number): void {
    const { id, cell_type, execution_count, outputs = [] } = cell;
    const run = typeof execution_count === 'number' ? `, run ${execution_count}` : '';
    this.text(`--- cell ${number}: ${cell_type}${id === undefined ? '' : `, id ${id}`}${run} ---`);
    this.text(cut(joined(cell.source), MAX_SOURCE, 'use Grep on the file for the rest'));
    for (const output of outputs.slice(0, MAX_OUTPUTS)) this.addOutput(output, number);
    const rest = outputs.length - MAX_OUTPUTS;
    if (rest > 0) this.text(`[${rest} more outputs of cell ${number}]`);
  }

  private addOutput(output: Output, number: number): void {
    this.text(`--- output of cell ${number} ---`);
    const { data, text, ename, evalue, traceback } = output;
    if (output.output_type === 'error') {
      const lines = isText(traceback) ? [traceback].flat() : [ename, evalue];
      this.text(shortened(lines.filter((line) => typeof line === 'string').join('\n')));
    } else if (isText(text)) this.text(shortened(joined(text)));
    else if (typeof data === 'object' && data !== null) this.addData(data);
  }

  private addData(data: object): void {
    const parts = Object.entries(data).filter((part): part is [string, string | string[]] =>
      isText(part[1]),
    );
    const image = parts.find(([type]) => /^image\/(png|jpeg|gif|webp)$/.test(type));
    if (image !== undefined && this.addImage(joined(image[1]))) return;
    const plain = parts.find(([type]) => type === 'text/plain') ?? parts.find(isReadable);
    if (plain !== undefined) this.text(shortened(joined(plain[1])));
    else this.text(`[${Object.keys(data).slice(0, 10).join(', ') || 'nothing'}, not shown]`);
  }

  /** Detects the type from the bytes. Returns false if they are not a picture. */
  private addImage(base64: string): boolean {
    const bytes = Buffer.from(base64, 'base64');
    const kind = fileKind(bytes);
    if (kind.kind !== 'image') return false;
    const isTooMuch =
      bytes.length > IMAGE_BYTES ||
      this.images === MAX_IMAGES ||
      this.imageBytes + bytes.length > ALL_IMAGE_BYTES;
    if (isTooMuch) {
      this.text(`[${kind.mediaType} of ${bytes.length} bytes, too much to show here]`);
      return true;
    }
    this.images += 1;
    this.imageBytes += bytes.length;
    const data = bytes.toString('base64');
    const source = { type: 'base64', media_type: kind.mediaType, data } as const;
    this.blocks.push({ type: 'image', source });
    return true;
  }
}

const isText = (value: unknown): value is string | string[] =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.every((line) => typeof line === 'string'));

const isReadable = ([type]: readonly [string, unknown]) => type.startsWith('text/');

/** Removes terminal colours and shortens the text. */
const shortened = (text: string): string =>
  cut(text.replaceAll(COLOURS, ''), MAX_OUTPUT, 'left out here');

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g');

const cut = (text: string, maxLength: number, note: string): string =>
  text.length <= maxLength
    ? text
    : truncateMiddle(text, `\n[… ${text.length - maxLength} characters, ${note} …]\n`, maxLength);
