/** The rules of .gitignore files: the last line of the nearest file that matches decides. */
import { dirname, join, sep } from 'node:path';
import { compileGlob } from '../../lib/paths/glob.js';
import { boundedRead } from './bounded-read.js';

/** The rules of one directory, and of those above it that still count. */
export interface IgnoreRules {
  /** Names from the directory of the file down to the one in question. */
  readonly depth: number;
  readonly rules: readonly Rule[];
  readonly above: IgnoreRules | undefined;
}

interface Rule {
  readonly ignores: boolean;
  readonly directoriesOnly: boolean;
  matches(names: readonly string[]): boolean;
}

/** Hostile repositories exist; git itself reads no more lines than a person would write. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_LINES = 5_000;
/** Longer than any path, and so of no use. */
const MAX_LINE_LENGTH = 4_096;

export const isIgnored = (
  start: IgnoreRules | undefined,
  names: readonly string[],
  isDirectory: boolean,
): boolean => {
  for (let level = start; level !== undefined; level = level.above) {
    const below = level.depth === 0 ? names : names.slice(level.depth);
    for (let at = level.rules.length - 1; at >= 0; at -= 1) {
      const rule = level.rules[at];
      if (rule === undefined || (rule.directoriesOnly && !isDirectory)) continue;
      if (rule.matches(below)) return rule.ignores;
    }
  }
  return false;
};

/** `above` is returned as it is when the directory has no rules of its own. */
export const readIgnoreRules = async (
  directory: string,
  depth: number,
  above: IgnoreRules | undefined,
): Promise<IgnoreRules | undefined> => {
  const bytes = await boundedRead(join(directory, '.gitignore'), MAX_FILE_BYTES);
  if (bytes === undefined) return above;
  const lines = bytes.toString('utf8').split(/\r?\n/, MAX_LINES);
  const rules = lines.flatMap((line) => parseLine(line) ?? []);
  return rules.length === 0 ? above : { depth, rules, above };
};

const parseLine = (line: string): Rule | undefined => {
  if (line.length > MAX_LINE_LENGTH) return undefined;
  const trimmed = line.replace(/^\ufeff/, '').replace(/(?<!\\)\s+$/, '');
  if (trimmed === '' || trimmed.startsWith('#')) return undefined;
  const ignores = !trimmed.startsWith('!');
  const named = ignores ? trimmed : trimmed.slice(1);
  const directoriesOnly = named.endsWith('/');
  const pattern = directoriesOnly ? named.slice(0, -1) : named;
  if (pattern === '' || pattern === '/') return undefined;
  try {
    // To git a brace is a character like any other.
    const { matches } = compileGlob(pattern, { braces: false });
    return { ignores, directoriesOnly, matches };
  } catch {
    // What cannot be read ignores nothing, as in git.
    return undefined;
  }
};

/**
 * The rules that reach `root` from above: up to the top of its repository, or of the disk. When they
 * ignore the root itself somebody asks for it all the same, and then they do not count.
 */
export const ignoreRulesAbove = async (
  root: string,
  isRepository: (directory: string) => Promise<boolean>,
): Promise<{ readonly rules: IgnoreRules | undefined; readonly prefix: readonly string[] }> => {
  const chain: string[] = [];
  for (let at = root; !(await isRepository(at)) && at !== dirname(at); at = dirname(at)) {
    chain.unshift(dirname(at));
  }
  const prefix = root
    .slice(chain[0]?.length ?? root.length)
    .split(sep)
    .filter(Boolean);
  let rules: IgnoreRules | undefined;
  for (const [depth, directory] of chain.entries()) {
    rules = await readIgnoreRules(directory, depth, rules);
    if (isIgnored(rules, prefix.slice(0, depth + 1), true)) return { rules: undefined, prefix };
  }
  return { rules, prefix };
};
