/**
 * Which folders a workspace takes its settings from.
 *
 * The workspace is the folder Skein was started in. Its own `.claude` and `.skein` apply; below a
 * git repository those of the repository's top apply too, and are weaker. Nothing in between is
 * read, and the home folder is never a project: its `.claude` holds the user's settings.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../../protocol/errors.js';
import { realPath } from './real-path.js';

export interface Workspace {
  /** Absolute; also the key of its trust, by real path. */
  readonly root: string;
  /** Folders whose settings apply, weakest first. */
  readonly folders: readonly string[];
}

export const findWorkspace = (cwd: string, home: string): Workspace => {
  const root = resolve(cwd);
  if (!isDirectory(root)) {
    throw new UsageError(`${root} is not a directory; give --cwd a folder that exists.`);
  }
  const top = repositoryTop(root);
  const folders = top !== undefined && top !== root && hasSettings(top) ? [top, root] : [root];
  return { root, folders: folders.filter((folder) => realPath(folder) !== realPath(home)) };
};

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new UsageError(`Cannot look at ${path} (${code}); start in a folder that you may read.`, {
      cause,
    });
  }
};

/** The nearest folder at or above this one that holds `.git` (a file, in a worktree). */
const repositoryTop = (start: string): string | undefined => {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
};

const hasSettings = (folder: string) =>
  ['.claude', '.skein', '.mcp.json'].some((name) => existsSync(join(folder, name)));
