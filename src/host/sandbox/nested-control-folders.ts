/** Finds folders below a writable folder with control files of their own: nested repositories and projects. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CONTROL_NAMES } from './protect-folder.js';

/** Folders near the root are read first. */
const MAX_FOLDERS_READ = 2_000;
const MAX_FOUND = 32;
const CONTROLS = new Set(['.git', ...CONTROL_NAMES]);
/** Folders of packages and caches, and folders that are protected as a whole. */
const SKIPPED = new Set(['node_modules', ...CONTROLS]);

export interface NestedControls {
  readonly folder: string;
  /** Names of the control files that exist. */
  readonly names: readonly string[];
}

export const nestedControlFolders = async (root: string): Promise<readonly NestedControls[]> => {
  const found: NestedControls[] = [];
  let level: readonly string[] = [root];
  for (let read = 0; level.length > 0 && read < MAX_FOLDERS_READ; ) {
    const batch = level.slice(0, MAX_FOLDERS_READ - read);
    read += batch.length;
    const next: string[] = [];
    for (const folder of batch) {
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
      const names = entries.map(({ name }) => name).filter((name) => CONTROLS.has(name));
      if (names.length > 0 && folder !== root) found.push({ folder, names });
      if (found.length === MAX_FOUND) return found;
      const folders = entries.filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name));
      next.push(...folders.map(({ name }) => join(folder, name)));
    }
    level = next;
  }
  return found;
};
