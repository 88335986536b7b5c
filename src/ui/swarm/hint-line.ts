/** The line at the bottom: the keys that work now, as many as there is room for. */
import { textWidth } from '../../terminal/text/text-width.js';
import type { Look } from '../screen/terminal-style.js';

export interface Hint {
  readonly key: string;
  readonly says: string;
}

const GAP = '  ';

/** The last one always has its place: it is the way out. */
export const hintLine = (hints: readonly Hint[], width: number, { paint }: Look): string => {
  const widthOf = ({ key, says }: Hint) => textWidth(key) + 1 + textWidth(says);
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
    .map(({ key, says }) => `${paint.strong(key)} ${paint.dim(says)}`)
    .join(GAP);
};
