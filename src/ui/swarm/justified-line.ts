/** Justified line: parts at the left and at the right; parts that do not fit are dropped. */
import { cutText } from '../../terminal/text/fit-text.js';
import { textWidth } from '../../terminal/text/text-width.js';

export interface LinePart {
  readonly text: string;
  readonly tint?: ((text: string) => string) | undefined;
}

const GAP = '  ';

/** Returns the width of a line with all parts. */
export const minLineWidth = (parts: readonly LinePart[]): number =>
  parts.reduce((sum, { text }) => sum + textWidth(text) + GAP.length, -GAP.length);

/**
 * The first left part is cut if it does not fit. All other parts are shown completely or not at all: left parts before
 * right parts, and earlier parts before later parts.
 */
export const justifiedLine = (
  left: readonly LinePart[],
  right: readonly LinePart[],
  width: number,
): string => {
  const [first = { text: '' }, ...others] = left;
  const head = { ...first, text: cutText(first.text, width) };
  let room = width - textWidth(head.text);
  const take = (parts: readonly LinePart[]): readonly LinePart[] => {
    const taken: LinePart[] = [];
    for (const part of parts) {
      const needed = textWidth(part.text) + GAP.length;
      if (needed > room) break;
      room -= needed;
      taken.push(part);
    }
    return taken;
  };
  const leftParts = [head, ...take(others)];
  const rightParts = take(right);
  const shown = (parts: readonly LinePart[]) =>
    parts.map(({ text, tint }) => tint?.(text) ?? text).join(GAP);
  const space = rightParts.length === 0 ? '' : ' '.repeat(room + GAP.length);
  return `${shown(leftParts)}${space}${shown(rightParts)}`;
};
