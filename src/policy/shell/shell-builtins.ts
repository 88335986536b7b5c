/** Builtins of the shell that are harmless unless they set a variable or change what words mean. */
import { argumentsOf, isNoOption, type ShellPart } from './shell-part.js';
import type { ShellWord } from './shell-words.js';

/** What `set -o` may be given without changing what words mean. */
export const PLAIN_SETTING = /^(?:errexit|nounset|pipefail|xtrace|verbose|noglob|noclobber)$/;

/** With `-k` every `name=value` is an assignment, with `-a` each is exported, posix mode has aliases. */
export const setsPlainly = (part: ShellPart): boolean => {
  const words = argumentsOf(part);
  const end = words.findIndex(({ text }) => text === '--');
  return (
    words.length > 0 &&
    words.every(({ dynamic, glob }) => !dynamic && !glob) &&
    (end < 0 ? words : words.slice(0, end)).every(({ text }, index) =>
      /^[-+][eufxvC]*o$/.test(words[index - 1]?.text ?? '')
        ? PLAIN_SETTING.test(text)
        : /^[-+][eufxvC]*o?$/.test(text),
    )
  );
};

/** `-v` takes the name of a variable, and a name may hold a command: `a[$(x)]`. */
export const testsNoVariable = ({ words }: ShellPart): boolean =>
  words.every((word, index) => {
    if (word.splits || word.text.startsWith('-v') || !isNoOption(word)) return false;
    // An unknown word might be `-v`, unless an operator or nothing follows it.
    return !word.dynamic || AFTER_OPERAND.test(words[index + 1]?.text ?? ']');
  });

const AFTER_OPERAND = /^(?:\]|\)|=|==|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef|a|o))$/;

/** `-v` and `%n` set a variable. */
export const printsOnly = ({ words }: ShellPart): boolean => {
  const [, first, second] = words;
  const format = first?.text === '--' ? second : first;
  const mayBeOption = (word: ShellWord | undefined) =>
    word !== undefined && (word.dynamic || !isNoOption(word) || word.text.startsWith('-v'));
  return (
    !mayBeOption(first) &&
    format?.dynamic !== true &&
    format?.glob !== true &&
    !/%[-+ #0-9.*']*[hlLjztq]*n/.test((format?.text ?? '').replaceAll('%%', ''))
  );
};
