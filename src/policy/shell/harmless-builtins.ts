/** Shell builtins that are harmless unless they set a variable or change the meaning of words. */
import { argumentsOf, isNoOption, type ShellPart } from './shell-part.js';
import type { ShellWord } from './shell-word.js';

/** Options for `set -o` that do not change the meaning of words. */
export const HARMLESS_SET_OPTION = /^(?:errexit|nounset|pipefail|xtrace|verbose|noglob|noclobber)$/;

/**
 * True if `set` changes no meaning of words. With `-k` every `name=value` is an assignment, with `-a` each is
 * exported, and posix mode has aliases.
 */
const isHarmlessSet = (part: ShellPart): boolean => {
  const words = argumentsOf(part);
  const end = words.findIndex(({ text }) => text === '--');
  return (
    words.length > 0 &&
    words.every(({ dynamic, glob }) => !dynamic && !glob) &&
    (end < 0 ? words : words.slice(0, end)).every(({ text }, index) =>
      /^[-+][eufxvC]*o$/.test(words[index - 1]?.text ?? '')
        ? HARMLESS_SET_OPTION.test(text)
        : /^[-+][eufxvC]*o?$/.test(text),
    )
  );
};

/** True if `test` has no `-v`: its operand is a variable name, which may contain a command as in `a[$(x)]`. */
const isHarmlessTest = ({ words }: ShellPart): boolean =>
  words.every((word, index) => {
    if (word.splits || word.text.startsWith('-v') || !isNoOption(word)) return false;
    // An unknown word may be `-v`, unless an operator or the end follows it.
    return !word.dynamic || AFTER_OPERAND.test(words[index + 1]?.text ?? ']');
  });

const AFTER_OPERAND = /^(?:\]|\)|=|==|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef|a|o))$/;

/** True if `printf` sets no variable, as `-v` and `%n` do. */
const isHarmlessPrintf = ({ words }: ShellPart): boolean => {
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

/** Checks by name of the builtin. */
export const HARMLESS_BUILTINS: ReadonlyMap<string, (part: ShellPart) => boolean> = new Map([
  ['set', isHarmlessSet],
  ['test', isHarmlessTest],
  ['[', isHarmlessTest],
  ['printf', isHarmlessPrintf],
]);
