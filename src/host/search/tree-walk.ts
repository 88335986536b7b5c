/** Tree walk in the order of paths. Skips hidden files, ignored files and links. */
import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type IgnoreRules,
  ignoreRulesAbove,
  isIgnored,
  readIgnoreRules,
} from '../files/ignore-rules.js';

export interface TreeWalk {
  /** Absolute path of a directory. */
  readonly root: string;
  readonly maxEntries: number;
  readonly signal: AbortSignal;
  /** True if a hidden name is to be included. */
  readonly wantsHidden: (name: string) => boolean;
  /** Called for each directory that cannot be read. */
  readonly onUnreadable: () => void;
  /** Called when the walk stops at `maxEntries`. */
  readonly onCut: () => void;
}

/** Names from the root to the file. */
export type Names = readonly string[];

interface Level {
  readonly names: Names;
  readonly entries: readonly Dirent[];
  readonly rules: IgnoreRules | undefined;
  next: number;
}

export async function* walkFiles(walk: TreeWalk): AsyncGenerator<Names> {
  const { rules, prefix } = await ignoreRulesAbove(walk.root, isRepository);
  const levels = [await open(walk, [], rules, prefix.length)];
  let visited = 0;
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const entry = level.entries[level.next];
    level.next += 1;
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    if (walk.signal.aborted) return;
    if (visited === walk.maxEntries) {
      walk.onCut();
      return;
    }
    visited += 1;
    const isDirectory = entry.isDirectory();
    if (!isDirectory && !entry.isFile()) continue;
    if (entry.name.startsWith('.') && (entry.name === '.git' || !walk.wantsHidden(entry.name))) {
      continue;
    }
    const names = [...level.names, entry.name];
    if (level.rules !== undefined && isIgnored(level.rules, [...prefix, ...names], isDirectory)) {
      continue;
    }
    if (isDirectory) levels.push(await open(walk, names, level.rules, prefix.length));
    else yield names;
  }
}

const open = async (
  walk: TreeWalk,
  names: Names,
  parentRules: IgnoreRules | undefined,
  depth: number,
): Promise<Level> => {
  const directory = join(walk.root, ...names);
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => {
    walk.onUnreadable();
    return [];
  });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const hasRules = entries.some(({ name }) => name === '.gitignore');
  const rules = hasRules
    ? await readIgnoreRules(directory, depth + names.length, parentRules)
    : parentRules;
  return { names, entries, rules, next: 0 };
};

const isRepository = async (directory: string): Promise<boolean> =>
  stat(join(directory, '.git')).then(
    () => true,
    () => false,
  );
