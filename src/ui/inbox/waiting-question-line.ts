/** How many questions wait, for a line of a screen that shows something else. */
import { plural } from '../../terminal/text/format-numbers.js';
import { cut } from '../../terminal/text/text-fit.js';

/** Empty when none does. */
export const waitingLine = (many: number, width: number): string => {
  if (many === 0) return '';
  const verb = many === 1 ? 'waits' : 'wait';
  return cut(`? ${plural(many, 'question')} ${verb} for you: i answers`, width);
};
