/** Key name for key tables: `j`, `G`, `?`, `space`, `up`, `C-c`, `M-b`, `S-tab`. */
import type { Key } from '../../terminal/input/line-editor.js';

export const keyName = ({ name = '', sequence = '', ctrl, meta, shift }: Key): string => {
  // For two presses of Esc, terminals send Esc twice, or Alt and Esc.
  if (name === 'escape' || name === 'space') return name;
  if (ctrl !== true && meta !== true && /^[!-~]$/.test(sequence)) return sequence;
  const isNamed = name.length > 1 && shift === true;
  return `${ctrl === true ? 'C-' : ''}${meta === true ? 'M-' : ''}${isNamed ? 'S-' : ''}${name}`;
};
