/** Compares two states of a file. */
import type { FileState } from '../../protocol/session/checkpoints.js';

/** False if a state is unknown. The mode of a link has no meaning. */
export const isSameState = (first: FileState, second: FileState): boolean => {
  if (first.kind !== second.kind || first.kind === 'unknown') return false;
  if (first.kind === 'absent') return true;
  if (first.kind === 'directory' || second.kind === 'directory') {
    return 'mode' in first && 'mode' in second && first.mode === second.mode;
  }
  return (
    'digest' in second &&
    first.digest === second.digest &&
    (first.kind === 'link' || first.mode === second.mode)
  );
};
