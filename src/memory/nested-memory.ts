/**
 * Memory files below the working directory: those of a part of the project, which an agent needs to
 * know only once it touches something there.
 */
import { join } from 'node:path';
import { pathBelow } from '../lib/paths/path-below.js';
import type { MemoryFile } from '../protocol/tools/memory.js';
import { MEMORY_LIMITS } from './memory-limits.js';
import type { Notices } from './notices.js';

/** What others wrote, and a project only brings along: its instructions are not the project's. */
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
  /** The working directory, by name and really. */
  readonly bases: readonly string[];
  /** Reads what lies in a directory; undefined where another repository begins. */
  readonly enter: (directory: string) => Promise<readonly MemoryFile[] | undefined>;
  readonly notices: Notices;
}

export class NestedMemory {
  private readonly options: NestedMemoryOptions;
  /** Each directory is entered once in a walk, however often something in it is touched. */
  private readonly entered = new Map<string, Promise<readonly MemoryFile[] | undefined>>();

  private last: Promise<unknown> = Promise.resolve();

  constructor(options: NestedMemoryOptions) {
    this.options = options;
  }

  /** Of all directories around the touched files, the outer ones first. */
  async filesFor(touched: readonly string[]): Promise<readonly MemoryFile[]> {
    const files = new Set<MemoryFile>();
    for (const path of touched) {
      for (const directory of this.directoriesAround(path)) {
        const found = await this.enter(directory);
        if (found === undefined) break;
        for (const file of found) files.add(file);
      }
    }
    return [...files];
  }

  private enter(directory: string): Promise<readonly MemoryFile[] | undefined> {
    const known = this.entered.get(directory);
    if (known !== undefined) return known;
    if (this.entered.size >= MEMORY_LIMITS.nestedDirectories) {
      this.options.notices.add(
        `Memory files are looked for in ${MEMORY_LIMITS.nestedDirectories} directories below the working directory; those of others are left out.`,
      );
      return Promise.resolve(undefined);
    }
    // One after the other: what is found is told by what was there before.
    const entering = this.last.then(() => this.options.enter(directory));
    this.entered.set(directory, entering);
    this.last = entering;
    return entering;
  }

  private directoriesAround(path: string): readonly string[] {
    for (const base of this.options.bases) {
      const below = pathBelow({ path, folder: base });
      if (below === undefined || below === '') continue;
      const names = below.split('/').slice(0, -1);
      const end = names.findIndex((name) => VENDOR_FOLDERS.has(name));
      const ours = end === -1 ? names : names.slice(0, end);
      return ours.map((_, index) => join(base, ...ours.slice(0, index + 1)));
    }
    return [];
  }
}
