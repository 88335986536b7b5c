/**
 * Recognises SKEIN_HOME under other names: a bind mount, a second mount of its disk, a hard link.
 *
 * Names are compared by device and inode, because a mount leaves no trace in a path.
 */
import { readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isPathInside } from '../../lib/paths/is-path-inside.js';
import { mountAliases } from '../../lib/paths/mount-aliases.js';
import { realPath } from './real-path.js';

/** Returns the real path of SKEIN_HOME, then the paths under which mounts show it or a part of it. */
export const statePaths = (skeinHome: string): readonly string[] => {
  const home = realPath(skeinHome);
  return [home, ...mountAliases([home], ['/'])];
};

/**
 * Returns a function like `realPath` that returns the path below SKEIN_HOME for a file of SKEIN_HOME under another
 * name. A path is followed once for all rules of a ruling, and folders are compared once in a turn of the event loop.
 */
export const realPathWithState = (skeinHome: string): ((path: string) => string) => {
  const home = realPath(skeinHome);
  const known = new KnownFiles(home);
  const folders = new Map<string, string | undefined>();
  const found = new Map<string, string>();
  let names: ReadonlyMap<string, string> | undefined;
  const forget = () => {
    names = undefined;
    folders.clear();
  };
  const nameOf = (path: string, state: ReadonlyMap<string, string>): string | undefined => {
    const stats = statOf(path);
    return stats && state.get(identityOf(stats));
  };
  const find = (path: string, names: ReadonlyMap<string, string>): string => {
    const real = realPath(path);
    if (isPathInside({ path: real, folder: home })) return real;
    const own = nameOf(real, names);
    if (own !== undefined) return own;
    for (let folder = dirname(real); ; folder = dirname(folder)) {
      if (!folders.has(folder)) folders.set(folder, nameOf(folder, names));
      const name = folders.get(folder);
      if (name !== undefined) return join(name, relative(folder, real));
      if (dirname(folder) === folder) return real;
    }
  };
  return (path) => {
    if (names === undefined) {
      names = known.names();
      setImmediate(forget);
    }
    // A ruling is made without a pause. The next one must see a link that was redirected meanwhile.
    if (found.size === 0) queueMicrotask(() => found.clear());
    const real = found.get(path) ?? find(path, names);
    found.set(path, real);
    return real;
  };
};

/** Folders of SKEIN_HOME that get new entries. */
const WATCHED = ['sessions', 'checkpoints', 'worktrees', 'projects', 'keys'];

/** Maximum number of files and folders of SKEIN_HOME that are known by their inodes. */
const MAX_KNOWN = 20_000;

/** Files of SKEIN_HOME by device and inode: two levels of folders, and the files with rights and keys. */
class KnownFiles {
  private readonly home: string;
  private stamp: string | undefined;
  private byIdentity: ReadonlyMap<string, string> = new Map();

  constructor(home: string) {
    this.home = home;
  }

  names(): ReadonlyMap<string, string> {
    const stamp = [this.home, ...WATCHED.map((name) => join(this.home, name))].map(stampOf).join();
    if (stamp !== this.stamp) {
      this.byIdentity = this.read(join(this.home, 'keys'));
      this.stamp = stamp;
    }
    return this.byIdentity;
  }

  private read(keys: string): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    const add = (path: string): boolean => {
      const stats = found.size < MAX_KNOWN ? statOf(path) : undefined;
      if (stats === undefined) return false;
      const isSecret = dirname(path) === this.home || dirname(path) === keys;
      // Copies of files in the workspace may share an inode with it, so other files are not compared.
      if (stats.isDirectory() || isSecret) found.set(identityOf(stats), path);
      return stats.isDirectory();
    };
    if (!add(this.home)) return found;
    for (const path of entriesOf(this.home)) {
      if (add(path)) for (const inner of entriesOf(path)) add(inner);
    }
    return found;
  }
}

const identityOf = ({ dev, ino }: Stats) => `${dev}:${ino}`;

const statOf = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

const stampOf = (path: string): string => {
  const stats = statOf(path);
  return stats === undefined ? 'missing' : `${identityOf(stats)}:${stats.mtimeMs}`;
};

const entriesOf = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
};
