/** Puts the known input of `xargs` into the words of the command that it runs. */
import { plainWord, type ShellWord, UNKNOWN } from '../shell-word.js';
import type { InnerCommand } from '../unwrapped-command.js';

const MAX_WORDS = 60;
const MAX_LINES = 8;

/** Returns the command with all fields of the input, and the command with each line as a single word. */
export const withArguments = (
  inner: readonly InnerCommand[],
  input: string,
): readonly InnerCommand[] => {
  const fields = input.split(/[\s\0]+/).filter((field) => field !== '');
  const lines = [input.trim(), ...input.split(/[\n\0]/)].filter((line) => line !== '');
  const fillings = [fields.slice(0, MAX_WORDS), ...lines.slice(0, MAX_LINES).map((line) => [line])];
  return inner.flatMap((command) =>
    command.kind === 'words' && command.words.some(({ text }) => text.includes(UNKNOWN))
      ? fillings.map((texts) => ({ ...command, words: filled(command.words, texts) }))
      : [command],
  );
};

/** A word that is the input and no more becomes several words. */
const filled = (words: readonly ShellWord[], texts: readonly string[]): readonly ShellWord[] =>
  words.flatMap((word) => {
    if (!word.text.includes(UNKNOWN)) return [word];
    if (word.text === UNKNOWN && word.splits) return texts.map(plainWord);
    return [plainWord(word.text.replaceAll(UNKNOWN, () => texts.join(' ')))];
  });
