/** One line with something at the left and something at the right: what matters less gives way. */
import { cut } from '../../terminal/text/text-fit.js';
import { textWidth } from '../../terminal/text/text-width.js';

export interface Part {
  readonly text: string;
  readonly tint?: ((text: string) => string) | undefined;
}

const GAP = '  ';

/** Of a line that has all of them. */
export const leastWidth = (parts: readonly Part[]): number =>
  parts.reduce((sum, { text }) => sum + textWidth(text) + GAP.length, -GAP.length);

/**
 * The first of the left is cut where even that has no room; all others are there as a whole or not at all,
 * those at the left before those at the right, the first of each before the others.
 */
export const spreadLine = (
  left: readonly Part[],
  right: readonly Part[],
  width: number,
): string => {
  const [first = { text: '' }, ...others] = left;
  const head = { ...first, text: cut(first.text, width) };
  let room = width - textWidth(head.text);
  const take = (parts: readonly Part[]): readonly Part[] => {
    const taken: Part[] = [];
    for (const part of parts) {
      const needed = textWidth(part.text) + GAP.length;
      if (needed > room) break;
      room -= needed;
      taken.push(part);
    }
    return taken;
  };
  const near = [head, ...take(others)];
  const far = take(right);
  const shown = (parts: readonly Part[]) =>
    parts.map(({ text, tint }) => tint?.(text) ?? text).join(GAP);
  const space = far.length === 0 ? '' : ' '.repeat(room + GAP.length);
  return `${shown(near)}${space}${shown(far)}`;
};
