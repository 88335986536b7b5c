/** Memory files below the working directory, loaded when an agent touches a file near them. */
import { join } from 'node:path';
import { pathBelow } from '../lib/paths/path-below.js';
import type { MemoryFile } from '../protocol/tools/memory.js';
import { MEMORY_LIMITS } from './memory-limits.js';
import type { MemoryNotices } from './memory-notices.js';

/** Folders with third-party files, whose instructions are not the project's. */
const VENDOR_FOLDERS = new Set([
  'node_modules',
  'bower_components',
  'vendor',
  'third_party',
  'site-packages',
  '.venv',
  'venv',
  '.git',
  '.hg',
  '.svn',
  '.yarn',
  '.cargo',
  'Pods',
]);

export interface NestedMemoryOptions {
  /** Working directory, as named and as real path. */
  readonly bases: readonly string[];
  /** Loads the memory files of a directory. Resolves to undefined for another repository. */
  readonly enter: (directory: string) => Promise<readonly MemoryFile[] | undefined>;
  readonly notices: MemoryNotices;
}

export class NestedMemory {
  private readonly options: NestedMemoryOptions;
  /** Directories loaded so far. Each is loaded once per walk. */
  private readonly entered = new Map<string, Promise<readonly MemoryFile[] | undefined>>();

  private last: Promise<unknown> = Promise.resolve();

  constructor(options: NestedMemoryOptions) {
    this.options = options;
  }

  /** Returns the memory files of all directories around the touched files, outer directories first. */
  async filesFor(touched: readonly string[]): Promise<readonly MemoryFile[]> {
    const files = new Set<MemoryFile>();
    for (const path of touched) {
      for (const directory of this.directoriesAbove(path)) {
        const found = await this.enter(directory);
        if (found === undefined) break;
        for (const file of found) files.add(file);
      }
    }
    return [...files];
  }

  private enter(directory: string): Promise<readonly MemoryFile[] | undefined> {
    const earlier = this.entered.get(directory);
    if (earlier !== undefined) return earlier;
    if (this.entered.size >= MEMORY_LIMITS.nestedDirectories) {
      this.options.notices.add(
        `Memory files are looked for in ${MEMORY_LIMITS.nestedDirectories} directories below the working directory at most; memory files of further directories are left out.`,
      );
      return Promise.resolve(undefined);
    }
    // One at a time, because `enter` finds its files by the growth of a shared list.
    const entering = this.last.then(() => this.options.enter(directory));
    this.entered.set(directory, entering);
    this.last = entering;
    return entering;
  }

  private directoriesAbove(path: string): readonly string[] {
    for (const base of this.options.bases) {
      const below = pathBelow({ path, folder: base });
      if (below === undefined || below === '') continue;
      const names = below.split('/').slice(0, -1);
      const end = names.findIndex((name) => VENDOR_FOLDERS.has(name));
      const ownNames = end === -1 ? names : names.slice(0, end);
      return ownNames.map((_, index) => join(base, ...ownNames.slice(0, index + 1)));
    }
    return [];
  }
}
