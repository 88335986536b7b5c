/**
 * Words of a shell command as the program would receive them.
 *
 * Quotes, escapes and `$'…'` are resolved. Text that only the running shell knows is marked as unknown.
 */
import type { Assignment, Word, WordPart } from 'unbash';

export interface ShellWord {
  /** Text of the word, with one UNKNOWN character for each unknown stretch. */
  readonly text: string;
  /** True if part of the text comes from an expansion whose result is unknown. */
  readonly dynamic: boolean;
  /** True if the word may become several words or none, because of an unquoted expansion. */
  readonly splits: boolean;
  /** True if the word has an unquoted pattern, which the shell replaces by file names. */
  readonly glob: boolean;
  /** Texts that the word may have, by the values that the command line gives to variables. Only if dynamic. */
  readonly values?: readonly { readonly text: string; readonly isOpen: boolean }[];
}

/** Placeholder for unknown text. A shell word cannot contain this character. */
export const UNKNOWN = '\0';

/** Values of variables that are known before the command runs, by name. */
export type KnownVariables = ReadonlyMap<string, string>;

export const plainWord = (text: string): ShellWord => ({
  text,
  dynamic: false,
  splits: false,
  glob: false,
});

export const unknownWord = (splits: boolean): ShellWord => ({
  text: UNKNOWN,
  dynamic: true,
  splits,
  glob: false,
});

export const readWord = (word: Word, variables: KnownVariables): ShellWord => {
  // The parser ends a variable name at a line continuation and the shell does not, so the name may differ.
  if (CONTINUED_NAME.test(word.text)) return unknownWord(true);
  const draft = { text: '', dynamic: false, splits: false, glob: false };
  const { parts } = word;
  if (parts === undefined) draft.text = word.value;
  else for (const part of parts) addPart(draft, part, variables, false);
  // The shell removes line continuations before it expands `~`.
  return expandTilde(draft, word.text.replaceAll('\\\n', ''), variables);
};

const CONTINUED_NAME = /\$\w*\\\n/;

/** Changes the text of the word, and every text that it may have. */
export const mapText = (word: ShellWord, change: (text: string) => string): ShellWord => ({
  ...word,
  text: change(word.text),
  ...(word.values !== undefined && {
    values: word.values.map(({ text, isOpen }) => ({ text: change(text), isOpen })),
  }),
});

/** Returns an assignment as a word, because `export X=1` passes a word to the builtin. */
export const assignmentWord = ({ name }: Assignment, value: ShellWord): ShellWord => ({
  ...mapText(value, (text) => `${name}=${text}`),
  splits: false,
  glob: false,
});

/** Removes variables that a command may set, as `export`, `read` and `cd` do, from the known variables. */
export const forgetAssigned = (
  words: readonly ShellWord[],
  variables: Map<string, string>,
): void => {
  if (/^(?:cd|pushd|popd|chdir)$/.test(words[0]?.text ?? '')) variables.delete('PWD');
  for (const { text } of words.slice(1)) variables.delete(text.replace(/\+?=.*$/s, ''));
};

interface WordDraft {
  text: string;
  dynamic: boolean;
  splits: boolean;
  glob: boolean;
}

const addPart = (
  draft: WordDraft,
  part: WordPart,
  variables: KnownVariables,
  isQuoted: boolean,
): void => {
  switch (part.type) {
    case 'AnsiCQuoted':
      // Shells differ in how they read these escapes.
      if (/\\(?:x\{|c)/.test(part.text)) addUnknown(draft, true);
      else draft.text += part.value;
      return;
    case 'Literal':
    case 'SingleQuoted':
      draft.text += part.value;
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      for (const inner of part.parts) addPart(draft, inner, variables, true);
      return;
    case 'Glob':
    case 'ExtendedGlob':
      draft.text += part.text;
      draft.glob = true;
      return;
    case 'SimpleExpansion':
      addVariable(draft, part.text.slice(1), variables, isQuoted);
      return;
    case 'ParameterExpansion': {
      const plain = part.prefix === undefined && part.index === undefined;
      const isPlain = plain && part.operation === undefined;
      addVariable(draft, isPlain ? part.parameter : '', variables, isQuoted);
      return;
    }
    case 'ProcessSubstitution':
      addUnknown(draft, true);
      return;
    default:
      addUnknown(draft, isQuoted);
  }
};

const addVariable = (
  draft: WordDraft,
  name: string,
  variables: KnownVariables,
  isQuoted: boolean,
): void => {
  const value = variables.get(name);
  // Unquoted, a value with blanks or stars is split or expanded.
  if (value === undefined || (!isQuoted && /[\s*?[\\]/.test(value))) addUnknown(draft, isQuoted);
  else draft.text += value;
};

const addUnknown = (draft: WordDraft, isQuoted: boolean): void => {
  draft.text += UNKNOWN;
  draft.dynamic = true;
  draft.splits ||= !isQuoted;
};

/** Replaces an unquoted leading `~` by the home. `~ada` and `~+` become unknown. */
const expandTilde = (draft: WordDraft, source: string, variables: KnownVariables): ShellWord => {
  if (!source.startsWith('~')) return draft;
  const home = variables.get('HOME');
  if (home !== undefined && /^~(?:$|\/)/.test(source)) {
    return { ...draft, text: home + draft.text.slice(1) };
  }
  return /^~[\w.+-]*(?:$|\/)/.test(source)
    ? { ...draft, text: UNKNOWN + draft.text.slice(1), dynamic: true }
    : draft;
};

/** Returns the words as shell source, quoted where needed. */
export const spellWords = (words: readonly ShellWord[]): string =>
  words.map(({ text }) => (PLAIN.test(text) ? text : quote(text))).join(' ');

/** Returns the words with single blanks between them, without quotes. */
export const joinWords = (words: readonly ShellWord[]): string =>
  words.map(({ text }) => text).join(' ');

const PLAIN = /^[\w@%+=:,./*?[\]{}^!~\0-]+$/;
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
