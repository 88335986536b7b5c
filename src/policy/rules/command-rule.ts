/**
 * A rule about commands, as words and not as bytes: blanks, quotes and comments fool it neither way.
 *
 * To forbid, one part of a command line is enough, seen through wrappers, folders and assignments.
 * To allow, a part must be written as the rule says.
 */
import { basename } from 'node:path';
import { plainGit } from '../shell/judgement/shell-git.js';
import { setsOnlyHarmless } from '../shell/judgement/shell-variables.js';
import type { ShellPart } from '../shell/shell-part.js';
import { readShell } from '../shell/shell-reading.js';
import { joinWords, plainWord, type ShellWord, spellWords } from '../shell/shell-words.js';
import { compileTextPattern, type TextPattern } from './command-pattern.js';

export interface CommandRule {
  /** Names every command. */
  readonly isBroad: boolean;
  /** The whole command line, as it was written. */
  isExactly(command: string): boolean;
  allows(part: ShellPart): boolean;
  catches(part: ShellPart): boolean;
}

export const compileCommandRule = (pattern: string): CommandRule => {
  const text = compileTextPattern(pattern);
  const prefix = /^(.*?)(?::\*|\s+\*)$/s.exec(pattern)?.[1];
  const isOpen = prefix !== undefined && prefix !== '';
  const words = readPattern(isOpen ? prefix : pattern);
  const fits = words === undefined ? byText(text) : byWords(words, isOpen);
  return {
    // A lone `:` is a command, and does nothing.
    isBroad: /^\s*(?::?\*+\s*)*$/.test(pattern),
    isExactly: (command) => text.exact && text.matches(command),
    allows: (part) => fits(part, false),
    catches: (part) => disguises(part).some((it) => fits(it, true)),
  };
};

type Fits = (part: ShellPart, loosely: boolean) => boolean;

/** The words of a pattern without stars; undefined where it is no plain command. */
const readPattern = (pattern: string): readonly string[] | undefined => {
  if (pattern.includes('*')) return undefined;
  const { parts, doubts } = readShell(pattern, '/', NOWHERE);
  const [part] = parts;
  if (part === undefined || doubts.length > 0 || part.redirects.length > 0) return undefined;
  // A wrapper has its inner command after it: then the pattern is about the wrapper.
  if (parts.some(({ within }, index) => index > 0 && within.length === 0)) return undefined;
  const words = [...assignmentsOf(part), ...part.words];
  return words.some(({ dynamic, glob }) => dynamic || glob)
    ? undefined
    : words.map(({ text }) => text);
};

const NOWHERE = { home: '~', realPath: (path: string) => path, ignoreCase: false, roots: [] };

const byWords =
  (pattern: readonly string[], isOpen: boolean): Fits =>
  (part, loosely) => {
    const begins = (words: readonly ShellWord[]) =>
      (isOpen ? words.length >= pattern.length : words.length === pattern.length) &&
      pattern.every((text, index) => words[index]?.text === text && !words[index].dynamic);
    if (part.words.length === 0) return false;
    if (begins([...assignmentsOf(part), ...part.words])) return true;
    return begins(part.words) && (loosely || setsOnlyHarmless(part));
  };

const byText =
  (text: TextPattern): Fits =>
  (part, loosely) => {
    if (part.words.length === 0) return false;
    const whole = [...assignmentsOf(part), ...part.words];
    if (text.matches(spellWords(whole))) return true;
    if (!loosely && !setsOnlyHarmless(part)) return false;
    if (text.matches(spellWords(part.words))) return true;
    return loosely && (text.matches(joinWords(part.words)) || text.matches(joinWords(whole)));
  };

/** The part as it stands, without the folder of its program, and without options ahead of a name. */
const disguises = (part: ShellPart): readonly ShellPart[] => {
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
