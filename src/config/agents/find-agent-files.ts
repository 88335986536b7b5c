/**
 * Finds the agent files below a folder, in all its sub-folders.
 *
 * The files of a workspace are not trusted, so depth and number of entries are limited, links out of the
 * workspace are not followed, and every folder is read once, also if links form a loop.
 */
import { type Dirent, opendirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isPathInside } from '../../lib/paths/is-path-inside.js';
import { realPath } from '../workspace/real-path.js';
import type { PromptFolder } from './prompt-file.js';

interface AgentFiles {
  /** Paths, files of upper folders first, then sorted by path. */
  readonly paths: readonly string[];
  /** Sentences for people about entries that are not read. */
  readonly warnings: readonly string[];
}

/** Limits for each folder of agents, with its sub-folders. */
const MAX_AGENT_FILES = 1_000;
const MAX_ENTRIES = 20_000;
/** Levels of sub-folders. */
const MAX_DEPTH = 8;

export const findAgentFiles = ({ path: root, within }: PromptFolder): AgentFiles => {
  const paths: string[] = [];
  const warnings: string[] = [];
  const seen = new Set<string>();
  let entriesLeft = MAX_ENTRIES;
  let level = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      warnings.push(`${level[0]} is ignored: agents are read up to ${MAX_DEPTH} folders deep.`);
      break;
    }
    const next: string[] = [];
    for (const folder of level) {
      const id = folderId(folder);
      if (id === undefined || seen.has(id)) continue;
      seen.add(id);
      if (within !== undefined && !isReallyInside(folder, within)) {
        warnings.push(
          `${folder} is ignored: it leads out of ${within}; put a copy there instead of a link.`,
        );
        continue;
      }
      const { entries, count, isWhole } = entriesOf(folder, entriesLeft);
      entriesLeft -= count;
      if (!isWhole) {
        warnings.push(`${root} has more than ${MAX_ENTRIES} entries; the others are not read.`);
      }
      for (const entry of entries) {
        const path = join(folder, entry.name);
        if (CONTROL.test(entry.name)) {
          warnings.push(
            `${JSON.stringify(path)} is ignored: remove the control characters from its name.`,
          );
        } else if (isFolder(path, entry)) next.push(path);
        else if (entry.name.endsWith('.md')) paths.push(path);
      }
      if (!isWhole) return limited(root, paths, warnings);
    }
    level = next;
  }
  return limited(root, paths, warnings);
};

const limited = (root: string, paths: readonly string[], warnings: string[]): AgentFiles => {
  const more = paths.length > MAX_AGENT_FILES;
  if (more) {
    warnings.push(
      `${root} has ${paths.length} agents; only the first ${MAX_AGENT_FILES} are read.`,
    );
  }
  return { paths: paths.slice(0, MAX_AGENT_FILES), warnings };
};

const CONTROL = /\p{Cc}/u;

/** Folders of packages, which have Markdown files of other projects. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules']);

/** Returns the entries that can be agents or folders, sorted by name. Returns none if the folder cannot be read. */
const entriesOf = (folder: string, limit: number) => {
  const entries: Dirent[] = [];
  let count = 0;
  let isWhole = true;
  try {
    const reader = opendirSync(folder);
    try {
      for (let entry = reader.readSync(); entry !== null; entry = reader.readSync()) {
        if (count === limit) {
          isWhole = false;
          break;
        }
        count += 1;
        if (!entry.name.startsWith('.') && !SKIPPED_FOLDERS.has(entry.name)) entries.push(entry);
      }
    } finally {
      reader.closeSync();
    }
  } catch {
    // A folder without access is treated as empty, like a folder that does not exist.
  }
  return { entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)), count, isWhole };
};

const isFolder = (path: string, entry: Dirent): boolean =>
  entry.isDirectory() || (entry.isSymbolicLink() && folderId(path) !== undefined);

/** Returns undefined if the path is not a folder. */
const folderId = (path: string): string | undefined => {
  try {
    const stat = statSync(path, { bigint: true });
    return stat.isDirectory() ? `${stat.dev}:${stat.ino}` : undefined;
  } catch {
    return undefined;
  }
};

const isReallyInside = (path: string, folder: string) =>
  isPathInside({ path: realPath(path), folder: realPath(folder), orSame: false });
