/** Locations of memory files and rules, computed from directory paths. */

import { dirname, join, resolve } from 'node:path';

/** Memory files of a project, in reading order. Later files take precedence. */
const PROJECT_FILES = ['CLAUDE.md', 'AGENTS.md', '.claude/CLAUDE.md', '.skein/CLAUDE.md'];
const PROJECT_RULES = ['.claude/rules', '.skein/rules'];

export interface MemoryLocations {
  readonly files: readonly string[];
  /** Rules directories. */
  readonly rules: readonly string[];
}

const below = (directory: string, names: readonly string[]) =>
  names.map((name) => join(directory, name));

export const managedLocations = (directory: string): MemoryLocations => ({
  files: below(directory, ['CLAUDE.md']),
  rules: below(directory, ['.claude/rules']),
});

/** Returns the locations in `~/.claude` or the state directory. */
export const userLocations = (directory: string): MemoryLocations => ({
  files: below(directory, ['CLAUDE.md']),
  rules: below(directory, ['rules']),
});

/** Skips `.claude` and `.skein` in the home directory, because they belong to the user layer. */
export const projectLocations = (directory: string, isHome: boolean): MemoryLocations => {
  const isOfProject = (name: string) => !(isHome && name.startsWith('.'));
  return {
    files: below(directory, PROJECT_FILES.filter(isOfProject)),
    rules: below(directory, PROJECT_RULES.filter(isOfProject)),
  };
};

export const localLocations = (directory: string): MemoryLocations => ({
  files: below(directory, ['CLAUDE.local.md']),
  rules: [],
});

/** Returns the directory and its ancestors, up to the root. */
export const ancestors = (directory: string): readonly string[] => {
  const chain = [resolve(directory)];
  for (let at = resolve(directory); dirname(at) !== at; at = dirname(at)) chain.push(dirname(at));
  return chain;
};
