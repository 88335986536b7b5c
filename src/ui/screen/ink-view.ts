/** Ink view: lets Ink lay out components as lines. Only the painter writes to the terminal. */
import { EventEmitter } from 'node:events';
import { type Instance, render } from 'ink';
import type { ReactNode } from 'react';
import type { Size } from './painter.js';

export interface InkView {
  /** Lays out the node again. The same node at the same size reuses the last lines. */
  refresh(): void;
  close(): void;
}

interface InkViewOptions {
  readonly size: () => Size;
  /** Called synchronously after each change. */
  readonly onFrame: (lines: readonly string[]) => void;
  /** Called when a component throws. No frame follows. */
  readonly onDefect: (error: unknown) => void;
}

export const openInkView = (node: () => ReactNode, options: InkViewOptions): InkView => {
  const { size, onFrame, onDefect } = options;
  let isOpen = true;
  let hasFailed = false;
  let lines: readonly string[] = [];
  const output = Object.assign(new EventEmitter(), {
    write: (text: string) => {
      if (!isOpen || hasFailed) return true;
      lines = text === '' ? [] : text.split('\n');
      onFrame(lines);
      return true;
    },
  });
  Object.defineProperties(output, {
    columns: { get: () => size().columns },
    rows: { get: () => size().rows },
  });
  const fail = (error: unknown) => {
    hasFailed = true;
    onDefect(error);
  };
  let drawn = { node: node(), ...size() };
  const instance: Instance = render(drawn.node, {
    stdout: output as unknown as NodeJS.WriteStream,
    // In debug mode Ink writes each frame as a whole, without terminal escape sequences.
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
