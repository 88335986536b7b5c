/** Pager: a full-screen scene that scrolls a long text. */
import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import type { Key } from '../../terminal/input/line-editor.js';
import type { Paint } from '../../terminal/terminal.js';
import { Observable } from './observable.js';
import type { Size } from './painter.js';
import type { Scene } from './screen.js';

export interface PagerText {
  readonly title: string;
  /** Returns sanitized lines of at most `columns` columns. */
  lines(columns: number): readonly string[];
  /** Hint about further keys, for the last line. */
  readonly keys?: string;
}

export interface PagerOptions {
  readonly paint: Paint;
  readonly size: () => Size;
  readonly close: () => void;
  /** Handles further keys. Returns true if the key was handled. */
  readonly press?: (name: string) => boolean;
}

export class Pager implements Scene {
  readonly content = new Observable();
  private readonly options: PagerOptions;
  private text: PagerText;
  private top = 0;
  private cache: { readonly columns: number; readonly lines: readonly string[] } | undefined;

  constructor(pages: PagerText, options: PagerOptions) {
    this.text = pages;
    this.options = options;
  }

  /** Shows another text from its start. */
  show(pages: PagerText): void {
    this.text = pages;
    this.top = 0;
    this.cache = undefined;
    this.content.notifyNow();
  }

  press({ name = '', ctrl = false, sequence = '' }: Key): void {
    const { options } = this;
    const page = this.height(options.size()) - 1;
    if (name === 'escape' || name === 'q' || (ctrl && (name === 'c' || name === 'd'))) {
      options.close();
      return;
    }
    if (!ctrl && options.press?.(name) === true) return;
    if (name === 'up' || name === 'k') this.scroll(-1);
    else if (name === 'down' || name === 'j' || name === 'return') this.scroll(1);
    else if (name === 'pageup' || name === 'b') this.scroll(-page);
    else if (name === 'pagedown' || name === 'space' || sequence === ' ') this.scroll(page);
    else if (name === 'home' || sequence === 'g') this.scroll(Number.NEGATIVE_INFINITY);
    else if (name === 'end' || sequence === 'G') this.scroll(Number.POSITIVE_INFINITY);
  }

  draw(size: Size): ReactNode {
    const { paint } = this.options;
    const { columns, rows } = size;
    const lines = this.linesFor(columns);
    const height = this.height(size);
    this.top = Math.max(0, Math.min(this.top, lines.length - height));
    const page = lines.slice(this.top, this.top + height);
    const last = Math.min(lines.length, this.top + height);
    const position = lines.length <= height ? 'all of it' : `${last} of ${lines.length} lines`;
    const keys = `${position} · arrows and pages scroll${this.text.keys ?? ''} · q closes`;
    return (
      <Box flexDirection="column" width={columns} height={rows}>
        <Text wrap="truncate">{paint.strong(this.text.title)}</Text>
        <Text wrap="truncate">{paint.dim('─'.repeat(columns))}</Text>
        {page.map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the index is the row of the screen.
          <Text key={at} wrap="truncate">
            {line === '' ? ' ' : line}
          </Text>
        ))}
        <Box flexGrow={1} />
        <Text wrap="truncate">{paint.dim(keys)}</Text>
      </Box>
    );
  }

  private height({ rows }: Size): number {
    return Math.max(1, rows - 3);
  }

  private linesFor(columns: number): readonly string[] {
    if (this.cache?.columns !== columns) {
      this.cache = { columns, lines: this.text.lines(columns) };
    }
    return this.cache.lines;
  }

  private scroll(offset: number): void {
    const { options } = this;
    const size = options.size();
    const maxTop = Math.max(0, this.linesFor(size.columns).length - this.height(size));
    this.top = Math.max(0, Math.min(maxTop, this.top + offset));
    this.content.notifyNow();
  }
}
