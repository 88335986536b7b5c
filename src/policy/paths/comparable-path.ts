import { foldName } from '../../lib/paths/fold-name.js';

/**
 * Returns the path in the spelling under which the most tolerant file system finds it: case folded, without
 * invisible characters, and without the dots, blanks and streams that Windows drops from the end of a name.
 */
export const comparablePath = (path: string): string => {
  const folded = foldName(path.slice(-MAX_PATH_LENGTH));
  return ENDINGS.test(folded) ? folded.split('/').map(withoutEnding).join('/') : folded;
};

/** In characters. No system opens a longer path. */
const MAX_PATH_LENGTH = 4_096;

const ENDINGS = /[. ](?:\/|$)|:/;

const withoutEnding = (name: string): string =>
  name.replace(/:.*$/, '').replace(/(?<=[^. ])[. ]{1,255}$/, '') || name;
