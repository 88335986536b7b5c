/**
 * Matches the rules for Bash against the parts of a command line.
 *
 * Compares words, not bytes, so that blanks, quotes and comments make no difference. A deny or ask rule also
 * matches a part behind wrappers, folders of the program and assignments. An allow rule matches only a part
 * that is written as the rule says.
 */
import { basename } from 'node:path';
import { plainGit } from '../shell/judgement/dangerous-git.js';
import { setsOnlyHarmlessVariables } from '../shell/judgement/dangerous-variable.js';
import { readShell } from '../shell/reading/read-shell.js';
import type { ShellPart } from '../shell/shell-part.js';
import { joinWords, plainWord, type ShellWord, spellWords } from '../shell/shell-word.js';
import { compileTextPattern, type TextPattern } from './text-pattern.js';

export interface CommandRule {
  /** True if the rule covers every command. */
  readonly isBroad: boolean;
  /** True if the pattern has no star and equals the command line as written. */
  isExactly(command: string): boolean;
  allows(part: ShellPart): boolean;
  catches(part: ShellPart): boolean;
}

export const compileCommandRule = (pattern: string): CommandRule => {
  const text = compileTextPattern(pattern);
  const prefix = /^(.*?)(?::\*|\s+\*)$/s.exec(pattern)?.[1];
  const isOpen = prefix !== undefined && prefix !== '';
  const words = readPattern(isOpen ? prefix : pattern);
  const fits = words === undefined ? matchText(text) : matchWords(words, isOpen);
  return {
    // A lone `:` is not broad: it is a command that has no effect.
    isBroad: /^\s*(?::?\*+\s*)*$/.test(pattern),
    isExactly: (command) => text.exact && text.matches(command),
    allows: (part) => fits(part, false),
    catches: (part) => variantsOf(part).some((variant) => fits(variant, true)),
  };
};

/** `isLoose` is true for deny and ask rules. */
type Fits = (part: ShellPart, isLoose: boolean) => boolean;

/** Returns the words of the pattern. Returns undefined if it has a star or is not a plain command. */
const readPattern = (pattern: string): readonly string[] | undefined => {
  if (pattern.includes('*')) return undefined;
  const { parts, doubts } = readShell(pattern, '/', NO_ENVIRONMENT);
  const [part] = parts;
  if (part === undefined || doubts.length > 0 || part.redirects.length > 0) return undefined;
  // The parts after a wrapper are its inner commands, so the pattern is still a single command.
  if (parts.some(({ wrappers }, index) => index > 0 && wrappers.length === 0)) return undefined;
  const words = [...assignmentsOf(part), ...part.words];
  return words.some(({ dynamic, glob }) => dynamic || glob)
    ? undefined
    : words.map(({ text }) => text);
};

const NO_ENVIRONMENT = {
  home: '~',
  realPath: (path: string) => path,
  ignoreCase: false,
  roots: [],
};

const matchWords =
  (pattern: readonly string[], isOpen: boolean): Fits =>
  (part, isLoose) => {
    const begins = (words: readonly ShellWord[]) =>
      (isOpen ? words.length >= pattern.length : words.length === pattern.length) &&
      pattern.every((text, index) => words[index]?.text === text && !words[index].dynamic);
    if (part.words.length === 0) return false;
    if (begins([...assignmentsOf(part), ...part.words])) return true;
    return begins(part.words) && (isLoose || setsOnlyHarmlessVariables(part));
  };

const matchText =
  (text: TextPattern): Fits =>
  (part, isLoose) => {
    if (part.words.length === 0) return false;
    const whole = [...assignmentsOf(part), ...part.words];
    if (text.matches(spellWords(whole))) return true;
    if (!isLoose && !setsOnlyHarmlessVariables(part)) return false;
    if (text.matches(spellWords(part.words))) return true;
    return isLoose && (text.matches(joinWords(part.words)) || text.matches(joinWords(whole)));
  };

/** Returns the part as written, without the folder of its program, and without git's global options. */
const variantsOf = (part: ShellPart): readonly ShellPart[] => {
  const [program, ...rest] = part.words;
  if (program === undefined) return [];
  const bare = { ...part, words: [{ ...program, text: basename(program.text) }, ...rest] };
  const all = program.text === bare.words[0]?.text ? [part] : [part, bare];
  return basename(program.text) === 'git' ? [...all, plainGit(bare)] : all;
};

const assignmentsOf = ({ assigned }: ShellPart): readonly ShellWord[] =>
  assigned.map(({ name, value }) => ({
    ...plainWord(`${name}=${value.text}`),
    dynamic: value.dynamic,
  }));
