/**
 * Markdown writer: builds Markdown from a stream of elements, up to a length limit.
 *
 * Blank lines, spaces and opening marks are written only before the next text, so that empty
 * elements produce no output.
 */

/** Deeper lists and quotes are not indented. */
const MAX_INDENTS = 12;
const MAX_COLUMNS = 100;

interface Table {
  rows: number;
  cells: number;
  /** True for a table that contains another table, which is used for layout. */
  isLayout: boolean;
}

export class MarkdownWriter {
  isFull = false;
  private readonly parts: string[] = [];
  private length = 0;
  /** Line ends to write before the next text. */
  private gap = 0;
  private space = false;
  /** Opening marks to write before the next text. */
  private waiting: string[] = [];
  private readonly indents: string[] = [];
  private lastIndent = '';
  private bullet: string | undefined;
  private readonly lists: { next: number | undefined }[] = [];
  private readonly tables: Table[] = [];
  private verbatim = 0;
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  text(text: string): void {
    if (this.isFull) return;
    if (this.verbatim > 0) {
      this.verbatimText(text);
      return;
    }
    const collapsed = text.replaceAll(/[\s\u00a0]+/g, ' ');
    const body = collapsed.trim();
    if (collapsed.startsWith(' ')) this.space = true;
    if (body === '') return;
    this.write(body);
    this.space = collapsed.endsWith(' ');
  }

  /** Requests at least `lines` line ends before the next text. */
  block(lines: 1 | 2): void {
    // A table cell stays on one line.
    if (this.inCell) this.space = true;
    // A bullet and its text stay together.
    else if (this.verbatim === 0) this.gap = Math.max(this.gap, this.bullet ? 1 : lines);
  }

  /** Two line breaks start a new paragraph. */
  lineBreak(): void {
    if (this.gap === 1) this.block(2);
    else if (this.verbatim > 0) this.text('\n');
    else this.block(1);
  }

  /** Writes `open` before the next text. The returned function writes `close` if there was text. */
  mark(open: string, close: string): () => void {
    if (this.verbatim > 0) return () => {};
    this.waiting.push(open);
    const depth = this.waiting.length;
    const written = this.parts.length;
    return () => {
      if (this.parts.length > written) {
        this.put(close);
        return;
      }
      if (this.waiting.length >= depth) this.waiting.length = depth - 1;
    };
  }

  heading(level: number): () => void {
    this.block(2);
    const close = this.inCell ? () => {} : this.mark(`${'#'.repeat(level)} `, '');
    return () => {
      close();
      this.block(2);
    };
  }

  rule(): undefined {
    this.block(2);
    this.write('---');
    this.block(2);
  }

  preformatted(): () => void {
    if (this.inCell || this.verbatim > 0) return () => {};
    this.gap = 2;
    this.write('```');
    this.put(`\n${this.indent}`);
    this.verbatim += 1;
    return () => {
      this.verbatim -= 1;
      this.put(this.parts.at(-1)?.endsWith(`\n${this.indent}`) ? '```' : `\n${this.indent}\`\`\``);
      this.gap = 2;
    };
  }

  indented(prefix: string): () => void {
    this.block(2);
    this.indents.push(this.indents.length < MAX_INDENTS ? prefix : '');
    return () => {
      this.indents.pop();
      this.block(2);
    };
  }

  /** Starts a list: numbered from `first`, or with bullets if undefined. */
  list(first: number | undefined): () => void {
    this.block(this.lists.length === 0 ? 2 : 1);
    this.lists.push({ next: first });
    return () => {
      this.lists.pop();
      this.block(this.lists.length === 0 ? 2 : 1);
    };
  }

  item(): () => void {
    this.block(1);
    const list = this.lists.at(-1);
    const bullet = list?.next === undefined ? '- ' : `${list.next}. `;
    if (list?.next !== undefined) list.next += 1;
    if (this.inCell) return () => this.block(1);
    const isDeep = this.indents.length >= MAX_INDENTS;
    this.bullet = isDeep ? undefined : bullet;
    this.indents.push(isDeep ? '' : ' '.repeat(bullet.length));
    return () => {
      this.indents.pop();
      this.bullet = undefined;
      this.block(1);
    };
  }

  table(): () => void {
    for (const outer of this.tables) outer.isLayout = true;
    this.block(2);
    this.tables.push({ rows: 0, cells: 0, isLayout: false });
    return () => {
      this.tables.pop();
      this.block(2);
    };
  }

  row(): () => void {
    const table = this.tables.at(-1);
    if (table === undefined) return () => {};
    table.cells = 0;
    this.block(1);
    return () => {
      const { cells, rows, isLayout } = table;
      if (!isLayout && cells > 0) {
        this.put(' |');
        this.space = false;
        this.gap = 1;
        if (rows === 0)
          this.write(`| ${Array(Math.min(cells, MAX_COLUMNS)).fill('---').join(' | ')} |`);
        table.rows += 1;
      }
      table.cells = 0;
      this.block(1);
    };
  }

  cell(): () => void {
    const table = this.tables.at(-1);
    if (table === undefined || table.isLayout) {
      this.block(1);
      return () => this.block(1);
    }
    this.space = false;
    this.write(table.cells === 0 ? '|' : ' |');
    table.cells += 1;
    this.space = true;
    return () => {};
  }

  finish(): string {
    return this.parts.join('').trimEnd();
  }

  private get inCell(): boolean {
    const table = this.tables.at(-1);
    return table !== undefined && !table.isLayout && table.cells > 0;
  }

  private get indent(): string {
    return this.indents.join('');
  }

  private verbatimText(text: string): void {
    const { indent } = this;
    this.put(indent === '' ? text : text.replaceAll('\n', `\n${indent}`));
  }

  private write(text: string): void {
    if (this.isFull) return;
    const atStart = this.parts.length === 0;
    if (this.gap > 0 || atStart) {
      const { bullet, indent } = this;
      // A blank line gets the indent that the lines before and after it share.
      const between = sharedStart(indent, this.lastIndent);
      const lines = atStart ? '' : `${this.gap > 1 ? `\n${between.trimEnd()}` : ''}\n`;
      this.lastIndent = indent;
      const start = bullet === undefined ? indent : indent.slice(0, -bullet.length) + bullet;
      this.put(lines + start);
    } else if (this.space) this.put(' ');
    this.gap = 0;
    this.bullet = undefined;
    this.space = false;
    if (this.waiting.length > 0) this.put(this.waiting.join(''));
    this.waiting = [];
    this.put(text);
  }

  private put(text: string): void {
    if (this.isFull || text === '') return;
    const room = this.limit - this.length;
    this.parts.push(text.slice(0, room));
    this.length += text.length;
    if (text.length > room) this.isFull = true;
  }
}

const sharedStart = (a: string, b: string): string => {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return a.slice(0, at);
};
