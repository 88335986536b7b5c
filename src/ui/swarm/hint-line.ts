/** Hint line at the bottom: the keys that work now, as many as fit. */
import { textWidth } from '../../terminal/text/text-width.js';
import type { TerminalStyle } from '../screen/terminal-style.js';

export interface Hint {
  readonly key: string;
  readonly text: string;
}

const GAP = '  ';

/** The last hint is always shown, because it is the key that leaves. */
export const hintLine = (
  hints: readonly Hint[],
  width: number,
  { paint }: TerminalStyle,
): string => {
  const widthOf = ({ key, text }: Hint) => textWidth(key) + 1 + textWidth(text);
  const last = hints.at(-1);
  let room = width - (last === undefined ? 0 : widthOf(last));
  const shown = hints.slice(0, -1).filter((hint) => {
    const needed = widthOf(hint) + GAP.length;
    if (needed > room) {
      room = 0;
      return false;
    }
    room -= needed;
    return true;
  });
  return [...shown, ...(last === undefined ? [] : [last])]
    .map(({ key, text }) => `${paint.strong(key)} ${paint.dim(text)}`)
    .join(GAP);
};
