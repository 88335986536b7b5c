/**
 * Skips the options of a wrapper program, to find the command that follows them.
 *
 * An unknown option may take the next word as its value. Then the start of the inner command is not clear.
 */
import { plainWord, type ShellWord, UNKNOWN } from './shell-word.js';

/** Options of a wrapper program, as far as needed to find the inner command. */
export interface WrapperOptions {
  /** Letters of options without a value. */
  readonly flags: string;
  /** Letters of options whose value is the next word or the rest of their own word. */
  readonly values: string;
  /** Letters of options whose value, if any, is the rest of their own word. */
  readonly optional?: string;
  /** Names of long options without a value. */
  readonly long?: readonly string[];
  /** Names of long options with a value. */
  readonly longValues?: readonly string[];
  /** True if `-10` is an option. */
  readonly numbers?: boolean;
  /** True if `+o` is an option. */
  readonly plus?: boolean;
  /** Number of words between the options and the command, such as the duration of `timeout`. */
  readonly positional?: number;
  /** True if `VAR=value` may precede the command. */
  readonly assigns?: boolean;
  /** True if `-c` takes shell source. */
  readonly script?: boolean;
  /** Letters of options with which the program runs no command. */
  readonly stops?: string;
  /** True if the inner command runs in the shell itself. */
  readonly sameShell?: boolean;
  /** True if the program does more than run the inner command. */
  readonly opaque?: boolean;
}

interface SkippedOptions {
  /** Words after the options. */
  readonly rest: readonly ShellWord[];
  /** Values of the options that were found, by letter or long name. Empty text if there is no value. */
  readonly options: ReadonlyMap<string, ShellWord>;
  /** False if the start of `rest` is uncertain. */
  readonly isClear: boolean;
}

export const skipOptions = (
  words: readonly ShellWord[],
  wrapper: WrapperOptions,
): SkippedOptions => {
  const options = new Map<string, ShellWord>();
  let isClear = true;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at] ?? plainWord('');
    const { text } = word;
    if (word.dynamic && (word.splits || text.startsWith(UNKNOWN))) {
      isClear = false;
      break;
    }
    if (text === '--') {
      at++;
      break;
    }
    if (!/^[-+]./.test(text) || (text.startsWith('+') && wrapper.plus !== true)) break;
    if (wrapper.numbers === true && /^-\d+$/.test(text)) continue;
    if (text.startsWith('--')) {
      const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
      if (value !== undefined) {
        // An abbreviation such as `--ch=x` for `--chdir=x` is not resolved, so it is not clear.
        isClear &&= [wrapper.long, wrapper.longValues].some((names) => names?.includes(name));
        options.set(name, plainWord(value));
      } else if (wrapper.longValues?.includes(name))
        options.set(name, words[++at] ?? plainWord(''));
      else {
        isClear &&= wrapper.long?.includes(name) === true;
        options.set(name, plainWord(''));
      }
      continue;
    }
    for (let letter = 1; letter < text.length; letter++) {
      const name = text.charAt(letter);
      if (wrapper.values.includes(name)) {
        const attached = text.slice(letter + 1);
        options.set(
          name,
          attached === '' ? (words[++at] ?? plainWord('')) : { ...word, text: attached },
        );
        break;
      }
      options.set(name, plainWord(''));
      if (wrapper.optional?.includes(name)) break;
      isClear &&= wrapper.flags.includes(name);
    }
  }
  return { rest: words.slice(at), options, isClear };
};
