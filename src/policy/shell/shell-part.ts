/** Nouns of a command line that was read, and small questions about them. */
import { basename } from 'node:path';
import type { PathWorld } from '../paths/path-policy.js';
import { absolutePath } from '../paths/path-policy.js';
import type { ShellWord } from './shell-words.js';

export interface ShellWorld extends PathWorld {
  /** The workspace first, then added directories. */
  readonly roots: readonly string[];
}

export interface ShellReading {
  readonly source: string;
  /** Every simple command, those inside of wrappers after the wrapper. */
  readonly parts: readonly ShellPart[];
  /** Why some of it cannot be known, a sentence each. */
  readonly doubts: readonly string[];
  /** A function that starts itself again in the background. */
  readonly isBomb: boolean;
}

/** One program that would be started, or only redirections or assignments. */
export interface ShellPart {
  /** The program first. */
  readonly words: readonly ShellWord[];
  readonly assigned: readonly { readonly name: string; readonly value: ShellWord }[];
  readonly redirects: readonly ShellRedirect[];
  /** The programs around it that run it, outermost first. */
  readonly within: readonly string[];
  /** What stands before it in its pipeline. */
  readonly fedBy: readonly ShellPart[];
  /** Where it may run, as far as can be told. */
  readonly dirs: readonly string[];
  /** It may run elsewhere as well, so that relative paths prove nothing. */
  readonly isLost: boolean;
  /** It does nothing but run the parts inside of it. */
  readonly transparent: boolean;
}

export interface ShellRedirect {
  readonly target: ShellWord;
  readonly writes: boolean;
}

/** The name of the program without its folder, or undefined when only the shell knows it. */
export const programOf = (part: ShellPart): string | undefined => {
  const [first] = part.words;
  if (first === undefined) return '';
  return first.dynamic || first.glob ? undefined : basename(first.text);
};

/** A pattern that starts with a star or a dash may become an option: there are files named `-o`. */
export const isNoOption = ({ glob, text }: ShellWord): boolean => !glob || /^[\w./]/.test(text);

/** What follows the program. */
export const argumentsOf = ({ words }: ShellPart): readonly ShellWord[] => words.slice(1);

/** Whether one of the short or long options is there: `hasOption(part, 'rR', 'recursive')`. */
export const hasOption = (
  part: ShellPart,
  letters: string,
  ...names: readonly string[]
): boolean => {
  const words = argumentsOf(part);
  const end = words.findIndex(({ text }) => text === '--');
  return (end < 0 ? words : words.slice(0, end)).some(isOption(letters, names));
};

/** The same for who must be sure: `--` may be the value of an option, and then it ends nothing. */
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
    // Programs take any unique beginning of a long name.
    return name !== '' && names.some((it) => it.startsWith(name));
  };

/** The words that are no options. */
export const operandsOf = (part: ShellPart): readonly ShellWord[] => {
  const operands: ShellWord[] = [];
  let ended = false;
  for (const word of argumentsOf(part)) {
    if (!ended && word.text === '--') ended = true;
    else if (ended || word.text === '-' || !word.text.startsWith('-')) operands.push(word);
  }
  return operands;
};

/** Where a word leads from some directories; undefined when only the running shell knows the word. */
export const pathsOf = (
  { text, dynamic }: ShellWord,
  dirs: readonly string[],
  home: string,
): readonly string[] | undefined => {
  if (dynamic) return undefined;
  if (text.startsWith('/')) return [absolutePath(text, '/', home)];
  // A quoted `~` is a name like any other; the unquoted one has been resolved.
  const name = text.startsWith('~') ? `./${text}` : text;
  return dirs.map((dir) => absolutePath(name, dir, home));
};
