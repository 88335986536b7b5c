/**
 * Finds the folders that a workspace takes its settings from.
 *
 * The workspace is the folder that Skein was started in. Its own `.claude` and `.skein` apply. Inside of a git
 * repository the settings of the repository's top folder apply too, and are weaker. Folders in between are not
 * read. The home folder is never a project, because its `.claude` holds the user's settings.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../../protocol/skein-error.js';
import { realPath } from './real-path.js';

export interface WorkspaceFolders {
  /** Absolute. Its real path is the key in trust.json. */
  readonly root: string;
  /** Folders whose settings apply, weakest first. */
  readonly folders: readonly string[];
}

/** Throws UsageError if `cwd` is not a directory. */
export const findWorkspace = (cwd: string, home: string): WorkspaceFolders => {
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
    throw new UsageError(`Cannot access ${path} (${code}); start in a folder that you may read.`, {
      cause,
    });
  }
};

/** Returns the nearest folder at or above `start` with a `.git` folder or file (of a worktree). */
const repositoryTop = (start: string): string | undefined => {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
};

const hasSettings = (folder: string) =>
  ['.claude', '.skein', '.mcp.json'].some((name) => existsSync(join(folder, name)));
