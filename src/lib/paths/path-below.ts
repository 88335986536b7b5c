import { resolve, sep } from 'node:path';
import { isPathInside, type PathInFolder } from './is-path-inside.js';

/**
 * Returns the part of `path` below `folder`, with `/` between names. Empty for the folder itself.
 * Returns undefined if the path lies elsewhere.
 */
export const pathBelow = (paths: Omit<PathInFolder, 'orSame'>): string | undefined => {
  if (!isPathInside(paths)) return undefined;
  // Counts names, not letters, because another spelling of the folder may have another length.
  return namesOf(paths.path).slice(namesOf(paths.folder).length).join('/');
};

const namesOf = (path: string): readonly string[] => resolve(path).split(sep).filter(Boolean);
