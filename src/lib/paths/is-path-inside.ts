import { isAbsolute, resolve, sep } from 'node:path';
import { foldName } from './fold-name.js';

export interface PathInFolder {
  readonly path: string;
  readonly folder: string;
  /** Compares names as a case-insensitive file system does. Default: false. */
  readonly ignoreCase?: boolean;
  /** Whether the folder itself counts as inside. Default: true. */
  readonly orSame?: boolean;
}

/**
 * True if the path is the folder itself or lies below it. Compares whole names: `/repo2` is not inside
 * `/repo`. False if one of the two is not an absolute path. Follows no symbolic links.
 */
export const isPathInside = ({
  path,
  folder,
  ignoreCase = false,
  orSame = true,
}: PathInFolder): boolean => {
  if (!isAbsolute(folder) || !isAbsolute(path)) return false;
  const outer = foldIf(normalise(folder), ignoreCase);
  const inner = foldIf(normalise(path), ignoreCase);
  if (inner === outer) return orSame;
  return inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
};

/** Skips `resolve` for paths that are normalised already, because permission rules call this often. */
const normalise = (path: string): string => (NOT_NORMAL.test(path) ? resolve(path) : path);

const NOT_NORMAL = /\/\.|\/\/|.\/$/;

const foldIf = (path: string, ignoreCase: boolean) => (ignoreCase ? foldName(path) : path);
