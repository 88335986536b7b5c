/**
 * Words of a shell command as the program would get them: quotes, escapes and `$'…'` resolved, and
 * what only the running shell knows marked as such.
 */
import type { Assignment, Word, WordPart } from 'unbash';

export interface ShellWord {
  /** As far as it is known: an unknown stretch is one UNKNOWN character. */
  readonly text: string;
  /** Some of it comes from an expansion whose outcome is not known. */
  readonly dynamic: boolean;
  /** It may become several words, or none: an expansion outside of quotes. */
  readonly splits: boolean;
  /** A pattern outside of quotes, which the shell replaces by names of files. */
  readonly glob: boolean;
}

/** Stands in for what is not known. The shell has no such character in a word. */
export const UNKNOWN = '\0';

/** Values of variables that are the same for every command, unless the command changes them. */
export type KnownValues = ReadonlyMap<string, string>;

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

export const readWord = (word: Word, known: KnownValues): ShellWord => {
  // The parser ends a name where a line goes on; the shell does not, and it may be another one.
  if (CONTINUED_NAME.test(word.text)) return unknownWord(true);
  const draft = { text: '', dynamic: false, splits: false, glob: false };
  const { parts } = word;
  if (parts === undefined) draft.text = word.value;
  else for (const part of parts) addPart(draft, part, known, false);
  // A line that goes on is one line, before anything else is looked at.
  return expandTilde(draft, word.text.replaceAll('\\\n', ''), known);
};

const CONTINUED_NAME = /\$\w*\\\n/;

/** `export X=1` hands the builtin a word, though the parser calls it an assignment. */
export const assignmentWord = (assignment: Assignment, known: KnownValues): ShellWord => {
  const value = assignedValue(assignment, known);
  return { ...value, text: `${assignment.name}=${value.text}`, splits: false, glob: false };
};

export const assignedValue = ({ value }: Assignment, known: KnownValues): ShellWord =>
  value.type === 'Word' ? readWord(value, known) : unknownWord(false);

/** A variable that is set on the way, by `export` or `read`, is no longer what it was at the start. */
export const forgetSet = (words: readonly ShellWord[], known: Map<string, string>): void => {
  if (/^(?:cd|pushd|popd|chdir)$/.test(words[0]?.text ?? '')) known.delete('PWD');
  for (const { text } of words.slice(1)) known.delete(text.replace(/\+?=.*$/s, ''));
};

interface Draft {
  text: string;
  dynamic: boolean;
  splits: boolean;
  glob: boolean;
}

const addPart = (draft: Draft, part: WordPart, known: KnownValues, quoted: boolean): void => {
  switch (part.type) {
    case 'AnsiCQuoted':
      // Some shells know these, others do not, and each in its own way.
      if (/\\(?:x\{|c)/.test(part.text)) addUnknown(draft, true);
      else draft.text += part.value;
      return;
    case 'Literal':
    case 'SingleQuoted':
      draft.text += part.value;
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      for (const inner of part.parts) addPart(draft, inner, known, true);
      return;
    case 'Glob':
    case 'ExtendedGlob':
      draft.text += part.text;
      draft.glob = true;
      return;
    case 'SimpleExpansion':
      addVariable(draft, part.text.slice(1), known, quoted);
      return;
    case 'ParameterExpansion': {
      const plain = part.prefix === undefined && part.index === undefined;
      const isPlain = plain && part.operation === undefined;
      addVariable(draft, isPlain ? part.parameter : '', known, quoted);
      return;
    }
    case 'ProcessSubstitution':
      addUnknown(draft, true);
      return;
    default:
      addUnknown(draft, quoted);
  }
};

const addVariable = (draft: Draft, name: string, known: KnownValues, quoted: boolean): void => {
  const value = known.get(name);
  // Outside of quotes a value with blanks or stars in it would be taken apart.
  if (value === undefined || (!quoted && /[\s*?[\\]/.test(value))) addUnknown(draft, quoted);
  else draft.text += value;
};

const addUnknown = (draft: Draft, quoted: boolean): void => {
  draft.text += UNKNOWN;
  draft.dynamic = true;
  draft.splits ||= !quoted;
};

/** Only an unquoted `~` at the start is the home. `~ada` is somebody's, and `~+` moves. */
const expandTilde = (draft: Draft, source: string, known: KnownValues): ShellWord => {
  if (!source.startsWith('~')) return draft;
  const home = known.get('HOME');
  if (home !== undefined && /^~(?:$|\/)/.test(source)) {
    return { ...draft, text: home + draft.text.slice(1) };
  }
  return /^~[\w.+-]*(?:$|\/)/.test(source)
    ? { ...draft, text: UNKNOWN + draft.text.slice(1), dynamic: true }
    : draft;
};

/** The words as one line that means the same to a shell. */
export const spellWords = (words: readonly ShellWord[]): string =>
  words.map(({ text }) => (PLAIN.test(text) ? text : quote(text))).join(' ');

/** The words with single blanks between them, quotes forgotten. */
export const joinWords = (words: readonly ShellWord[]): string =>
  words.map(({ text }) => text).join(' ');

const PLAIN = /^[\w@%+=:,./*?[\]{}^!~\0-]+$/;
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
