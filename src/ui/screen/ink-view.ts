/** Ink lays a tree of components out as lines. It never sees the terminal: a painter has that. */
import { EventEmitter } from 'node:events';
import { type Instance, render } from 'ink';
import type { ReactNode } from 'react';
import type { Size } from './painter.js';

export interface InkView {
  /** Lays out anew. The very same node for the same size is not: its lines come once more. */
  refresh(): void;
  close(): void;
}

export interface InkViewOptions {
  readonly size: () => Size;
  /** After each change, at once. */
  readonly onFrame: (lines: readonly string[]) => void;
  /** A component has thrown: nothing more will come. */
  readonly onDefect: (error: unknown) => void;
}

export const openInkView = (node: () => ReactNode, options: InkViewOptions): InkView => {
  const { size, onFrame, onDefect } = options;
  let isOpen = true;
  let hasFailed = false;
  let lines: readonly string[] = [];
  const paper = Object.assign(new EventEmitter(), {
    write: (text: string) => {
      if (!isOpen || hasFailed) return true;
      lines = text === '' ? [] : text.split('\n');
      onFrame(lines);
      return true;
    },
  });
  Object.defineProperties(paper, {
    columns: { get: () => size().columns },
    rows: { get: () => size().rows },
  });
  const fail = (error: unknown) => {
    hasFailed = true;
    onDefect(error);
  };
  let drawn = { node: node(), ...size() };
  const instance: Instance = render(drawn.node, {
    stdout: paper as unknown as NodeJS.WriteStream,
    // In this mode each change is one write of the whole frame, without a word to any terminal.
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  instance.waitUntilExit().catch(fail);
  return {
    refresh: () => {
      const next = { node: node(), ...size() };
      const isSame =
        typeof next.node === 'object' &&
        next.node === drawn.node &&
        next.columns === drawn.columns &&
        next.rows === drawn.rows;
      drawn = next;
      if (!isSame) instance.rerender(next.node);
      else if (isOpen && !hasFailed) onFrame(lines);
    },
    close: () => {
      isOpen = false;
      instance.unmount();
    },
  };
};
