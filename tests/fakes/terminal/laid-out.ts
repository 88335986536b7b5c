/** Lines that Ink renders for components, on a terminal of the given size. */
import type { ReactNode } from 'react';
import { openInkView } from '../../../src/ui/screen/ink-view.js';

export const laidOut = (node: ReactNode, columns = 80, rows = 24): readonly string[] => {
  let last: readonly string[] = [];
  const view = openInkView(() => node, {
    size: () => ({ columns, rows }),
    onFrame: (lines) => {
      last = lines;
    },
    onDefect: (error) => {
      throw error;
    },
  });
  view.close();
  return last;
};
