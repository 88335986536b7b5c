/**
 * Skips the options of a program, to find what follows them.
 *
 * An option that is not known might take a word with it, so that nobody could tell where the inner
 * command begins: then it is not clear.
 */
import { plainWord, type ShellWord, UNKNOWN } from './shell-words.js';

export interface WrapperOptions {
  /** Letters of options without a value. */
  readonly flags: string;
  /** Letters of options that take the next word, or the rest of theirs. */
  readonly values: string;
  /** Letters whose value can only be attached. */
  readonly optional?: string;
  readonly long?: readonly string[];
  readonly longValues?: readonly string[];
  /** `-10` is an option of its own, and `+o` is one too. */
  readonly numbers?: boolean;
  readonly plus?: boolean;
  /** Words between the options and the command: the duration of `timeout`. */
  readonly positional?: number;
  /** `VAR=value` may come before the command. */
  readonly assigns?: boolean;
  /** `-c` brings a script. */
  readonly script?: boolean;
  /** Letters of options that make it run nothing. */
  readonly stops?: string;
  readonly sameShell?: boolean;
  /** It does more than run the inner command. */
  readonly opaque?: boolean;
}

export interface Skipped {
  /** What follows the options. */
  readonly rest: readonly ShellWord[];
  /** Options with their values, short ones as letters. */
  readonly options: ReadonlyMap<string, ShellWord>;
  readonly isClear: boolean;
}

export const skipOptions = (words: readonly ShellWord[], known: WrapperOptions): Skipped => {
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
    if (!/^[-+]./.test(text) || (text.startsWith('+') && known.plus !== true)) break;
    if (known.numbers === true && /^-\d+$/.test(text)) continue;
    if (text.startsWith('--')) {
      const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
      if (value !== undefined) {
        // Also a beginning of a name is one, `--ch=x` is `--chdir=x`: nobody knows which.
        isClear &&= [known.long, known.longValues].some((names) => names?.includes(name));
        options.set(name, plainWord(value));
      } else if (known.longValues?.includes(name)) options.set(name, words[++at] ?? plainWord(''));
      else {
        isClear &&= known.long?.includes(name) === true;
        options.set(name, plainWord(''));
      }
      continue;
    }
    for (let letter = 1; letter < text.length; letter++) {
      const name = text.charAt(letter);
      if (known.values.includes(name)) {
        const attached = text.slice(letter + 1);
        options.set(
          name,
          attached === '' ? (words[++at] ?? plainWord('')) : { ...word, text: attached },
        );
        break;
      }
      options.set(name, plainWord(''));
      if (known.optional?.includes(name)) break;
      isClear &&= known.flags.includes(name);
    }
  }
  return { rest: words.slice(at), options, isClear };
};
