/** The parts of a parsed command line, and predicates about their words and options. */
import { basename } from 'node:path';
import { absolutePath, type PathEnvironment } from '../paths/resolved-paths.js';
import type { ShellWord } from './shell-word.js';

export interface ShellEnvironment extends PathEnvironment {
  /** Absolute paths: the workspace first, then added directories. */
  readonly roots: readonly string[];
}

export interface ShellReading {
  readonly source: string;
  /** Every simple command. The inner commands of a wrapper follow it. */
  readonly parts: readonly ShellPart[];
  /** Sentences that say which parts of the command line cannot be known before it runs. */
  readonly doubts: readonly string[];
  /** True if the analysis could not read the whole command line. */
  readonly isFailed: boolean;
  /** True if a function starts itself again in the background (a fork bomb). */
  readonly isBomb: boolean;
  /** Parts with the values that the command line itself gives to variables. They only make a ruling stricter. */
  readonly rebuilt: readonly ShellPart[];
}

/** A program that would be started, or a part with only redirections or assignments. */
export interface ShellPart {
  /** Program and arguments. Empty for a part without a program. */
  readonly words: readonly ShellWord[];
  readonly assigned: readonly { readonly name: string; readonly value: ShellWord }[];
  readonly redirects: readonly ShellRedirect[];
  /** Wrapper programs that run this part, outermost first. */
  readonly wrappers: readonly string[];
  /** Earlier parts of the same pipeline. */
  readonly pipedFrom: readonly ShellPart[];
  /** Directories that the part may run in, absolute. */
  readonly dirs: readonly string[];
  /** True if the part may run in other directories too, so that relative paths are unknown. */
  readonly areDirsIncomplete: boolean;
  /** True if the part only runs its inner commands. */
  readonly transparent: boolean;
}

export interface ShellRedirect {
  readonly target: ShellWord;
  readonly writes: boolean;
}

/** Returns the program's name without its folder. Empty if there is no program. Undefined if it is unknown. */
export const programOf = (part: ShellPart): string | undefined => {
  const [first] = part.words;
  if (first === undefined) return '';
  return first.dynamic || first.glob ? undefined : basename(first.text);
};

/** False for a glob that may expand to an option, because a file may be named `-o`. */
export const isNoOption = ({ glob, text }: ShellWord): boolean => !glob || /^[\w./]/.test(text);

export const argumentsOf = ({ words }: ShellPart): readonly ShellWord[] => words.slice(1);

/** True if the part has any of the short or long options, as in `hasOption(part, 'rR', 'recursive')`. */
export const hasOption = (
  part: ShellPart,
  letters: string,
  ...names: readonly string[]
): boolean => {
  const words = argumentsOf(part);
  const end = words.findIndex(({ text }) => text === '--');
  return (end < 0 ? words : words.slice(0, end)).some(isOption(letters, names));
};

/** Like hasOption, but also looks after `--`, because `--` may be the value of an option. */
export const mayHaveOption = (
  part: ShellPart,
  letters: string,
  ...names: readonly string[]
): boolean => argumentsOf(part).some(isOption(letters, names));

const isOption =
  (letters: string, names: readonly string[]) =>
  ({ text }: ShellWord): boolean => {
    if (!text.startsWith('--')) {
      return text.startsWith('-') && letters.split('').some((letter) => text.includes(letter));
    }
    const name = text.slice(2).replace(/=.*$/s, '');
    // Programs accept any unique beginning of a long name.
    return name !== '' && names.some((long) => long.startsWith(name));
  };

/** Returns the arguments that are not options. */
export const operandsOf = (part: ShellPart): readonly ShellWord[] => {
  const operands: ShellWord[] = [];
  let ended = false;
  for (const word of argumentsOf(part)) {
    if (!ended && word.text === '--') ended = true;
    else if (ended || word.text === '-' || !word.text.startsWith('-')) operands.push(word);
  }
  return operands;
};

/** Returns the absolute paths of a word, one for each directory. Undefined if only the shell knows the word. */
export const pathsOf = (
  { text, dynamic }: ShellWord,
  dirs: readonly string[],
  home: string,
): readonly string[] | undefined => {
  if (dynamic) return undefined;
  if (text.startsWith('/')) return [absolutePath(text, '/', home)];
  // A `~` that is left was quoted and is part of a name; an unquoted `~` is resolved already.
  const name = text.startsWith('~') ? `./${text}` : text;
  return dirs.map((dir) => absolutePath(name, dir, home));
};
