/** Guesses the program that a pattern or an unset variable hides, as in `/bin/r? -rf /` and `r${x}m -rf /`. */
import { compileGlob, GlobProblem } from '../../../lib/paths/glob.js';
import { plainWord, type ShellWord, UNKNOWN } from '../shell-word.js';

/** Programs that can do forbidden things or run other programs. */
const PROGRAMS =
  'rm mv dd find chmod chown chgrp kill pkill killall shutdown reboot halt poweroff init mkfs shred rsync tee cp skein sh bash env sudo eval'.split(
    ' ',
  );

/** Replaces the first word by the program that it may name. An unset variable counts as empty text. */
export const withGuessedProgram = (words: readonly ShellWord[]): readonly ShellWord[] => {
  const [first, ...rest] = words;
  if (first === undefined || (!first.dynamic && !first.glob)) return words;
  const text = first.text.replaceAll(UNKNOWN, '');
  if (text === '') return rest;
  const name = text.slice(text.lastIndexOf('/') + 1);
  const program = first.glob ? PROGRAMS.find((candidate) => matches(name, candidate)) : name;
  return program === undefined || program === '' ? words : [plainWord(program), ...rest];
};

const matches = (pattern: string, name: string): boolean => {
  try {
    return compileGlob(pattern).matches([name]);
  } catch (error) {
    if (error instanceof GlobProblem) return false;
    throw error;
  }
};
