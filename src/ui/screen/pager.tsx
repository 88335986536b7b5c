/** A long text on the whole screen, to be scrolled and left again. */
import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import type { Key } from '../../terminal/input/line-editor.js';
import type { Paint } from '../../terminal/terminal.js';
import { Observable } from './observable.js';
import type { Size } from './painter.js';
import type { Scene } from './screen.js';

export interface Pages {
  readonly title: string;
  /** Each at most so many columns wide, and harmless. */
  lines(columns: number): readonly string[];
  /** What other keys do here, for the last line. */
  readonly keys?: string;
}

export interface PagerOptions {
  readonly paint: Paint;
  readonly size: () => Size;
  readonly close: () => void;
  /** Keys that mean something here beside scrolling; true when one was taken. */
  readonly press?: (name: string) => boolean;
}

export class Pager implements Scene {
  readonly shown = new Observable();
  private readonly options: PagerOptions;
  private pages: Pages;
  private top = 0;
  private cache: { readonly columns: number; readonly lines: readonly string[] } | undefined;

  constructor(pages: Pages, options: PagerOptions) {
    this.pages = pages;
    this.options = options;
  }

  /** Another text in its place. */
  turn(pages: Pages): void {
    this.pages = pages;
    this.top = 0;
    this.cache = undefined;
    this.shown.changedNow();
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
    const place = lines.length <= height ? 'all of it' : `${last} of ${lines.length} lines`;
    const keys = `${place} · arrows and pages scroll${this.pages.keys ?? ''} · q closes`;
    return (
      <Box flexDirection="column" width={columns} height={rows}>
        <Text wrap="truncate">{paint.strong(this.pages.title)}</Text>
        <Text wrap="truncate">{paint.dim('─'.repeat(columns))}</Text>
        {page.map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row of the screen is its place.
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
      this.cache = { columns, lines: this.pages.lines(columns) };
    }
    return this.cache.lines;
  }

  private scroll(by: number): void {
    const { options } = this;
    const size = options.size();
    const most = Math.max(0, this.linesFor(size.columns).length - this.height(size));
    this.top = Math.max(0, Math.min(most, this.top + by));
    this.shown.changedNow();
  }
}
