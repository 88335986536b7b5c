/** Ignore rules of .gitignore files: the last matching line of the nearest file decides. */
import { dirname, join, sep } from 'node:path';
import { compileGlob } from '../../lib/paths/glob.js';
import { boundedRead } from './bounded-read.js';

/** Rules of a directory and of the directories above it. */
export interface IgnoreRules {
  /** Number of leading path names to skip, so that the rest is relative to this directory. */
  readonly depth: number;
  readonly rules: readonly Rule[];
  readonly above: IgnoreRules | undefined;
}

interface Rule {
  readonly ignores: boolean;
  readonly directoriesOnly: boolean;
  matches(names: readonly string[]): boolean;
}

/** Limits against hostile repositories. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_LINES = 5_000;
/** Longer lines match no path. */
const MAX_LINE_LENGTH = 4_096;

export const isIgnored = (
  start: IgnoreRules | undefined,
  names: readonly string[],
  isDirectory: boolean,
): boolean => {
  for (let level = start; level !== undefined; level = level.above) {
    const relativeNames = level.depth === 0 ? names : names.slice(level.depth);
    for (let at = level.rules.length - 1; at >= 0; at -= 1) {
      const rule = level.rules[at];
      if (rule === undefined || (rule.directoriesOnly && !isDirectory)) continue;
      if (rule.matches(relativeNames)) return rule.ignores;
    }
  }
  return false;
};

/** Returns `above` unchanged if the directory has no rules. */
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
  const body = ignores ? trimmed : trimmed.slice(1);
  const directoriesOnly = body.endsWith('/');
  const pattern = directoriesOnly ? body.slice(0, -1) : body;
  if (pattern === '' || pattern === '/') return undefined;
  try {
    // Braces have no meaning in .gitignore.
    const { matches } = compileGlob(pattern, { braces: false });
    return { ignores, directoriesOnly, matches };
  } catch {
    // An invalid pattern ignores no files, as in git.
    return undefined;
  }
};

/**
 * Returns the rules above `root`, up to the top of its repository or of the disk. Returns no rules if they ignore
 * `root` itself, because the caller asked for that folder explicitly.
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
