/** Finds the rule files below a rules directory, independent of the order of the disk. */
import { join } from 'node:path';
import type { MemoryDisk, ResolvedMemoryPath } from '../protocol/tools/memory.js';
import { MEMORY_LIMITS } from './memory-limits.js';
import { type MemoryNotices, printablePath } from './memory-notices.js';

export interface FindRulesOptions {
  readonly disk: MemoryDisk;
  readonly notices: MemoryNotices;
  /** True if the directory may be listed. Adds its own notice if not. */
  mayEnter(path: string, resolved: ResolvedMemoryPath): boolean;
}

/** Returns the paths sorted by code units, independent of the locale. Lists each real directory once. */
export const findRules = async (
  start: string,
  search: FindRulesOptions,
): Promise<readonly string[]> => {
  const { disk, notices } = search;
  const entered = new Set<string>();
  const found: string[] = [];
  const open = [{ path: start, depth: 0 }];
  let left = MEMORY_LIMITS.ruleEntries;
  // The loop appends to the list that it iterates.
  for (const [index, { path, depth }] of open.entries()) {
    if (index === MEMORY_LIMITS.ruleDirectories) {
      notices.add(
        `${printablePath(start)} has too many directories; only some are searched for rules.`,
      );
      break;
    }
    const resolved = await disk.resolve(path);
    if (resolved?.kind !== 'directory' || entered.has(resolved.real)) continue;
    entered.add(resolved.real);
    if (depth > MEMORY_LIMITS.ruleDepth) {
      notices.add(`${printablePath(path)} is not searched for rules: it is nested too deeply.`);
      continue;
    }
    if (!search.mayEnter(path, resolved)) continue;
    const entries = await disk.list(resolved.real, left);
    if (typeof entries === 'string') {
      const why = entries === 'too-many' ? 'it holds too many files' : 'it cannot be read';
      notices.add(`${printablePath(path)} is not searched for rules: ${why}.`);
      continue;
    }
    left -= entries.length;
    // Sorted, so that the files beyond a limit do not depend on the disk.
    for (const { name, kind } of entries.toSorted(compareNames)) {
      const isRule = /\.md$/i.test(name);
      if (isRule && kind !== 'directory') found.push(join(path, name));
      else if (kind !== 'other') open.push({ path: join(path, name), depth: depth + 1 });
    }
  }
  return found.sort();
};

const compareNames = (a: { readonly name: string }, b: { readonly name: string }) =>
  a.name < b.name ? -1 : 1;
