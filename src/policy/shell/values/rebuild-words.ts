/**
 * Computes the text of a word from the values that the command line itself gives to variables.
 *
 * The result is a guess that makes a ruling stricter. `readWord` returns the certain text.
 */
import {
  type ParameterExpansionPart,
  type ParsedScript,
  parse,
  type Word,
  type WordPart,
} from 'unbash';
import { type ShellWord, UNKNOWN } from '../shell-word.js';
import { changedText } from './changed-text.js';
import { HARMLESS_TEXT, type KnownText, OPEN_TEXT, type ShellValues } from './shell-values.js';

/** Selects a single value of each variable. */
export interface ValueScope {
  readonly values: ShellValues;
  /** Index of the value. A variable with fewer values has its last value. */
  readonly variant: number;
  /** True for the values of the whole command line. */
  readonly everywhere: boolean;
  readonly depth: number;
  /** Variables of a substitution whose output is guessed. */
  readonly locals?: Map<string, KnownText>;
  /** Returns the output of a substitution. Undefined if the text does not tell it. */
  readonly printed: (script: ParsedScript, scope: ValueScope) => KnownText | undefined;
}

const MAX_DEPTH = 12;

/** Returns the text of the word as a single field. */
export const textOf = (word: Word, scope: ValueScope): KnownText => {
  const fields = new Fields(false);
  addWord(fields, word, scope);
  return { text: fields.joined(), isOpen: fields.isOpen };
};

/** Returns the words that the program would receive, with unquoted values split at blanks. */
export const rebuildWords = (word: Word, scope: ValueScope): readonly ShellWord[] =>
  expandWord(word, scope).words;

/** Like rebuildWords, and tells whether a word may contain text from outside. */
export const expandWord = (
  word: Word,
  scope: ValueScope,
): { readonly words: readonly ShellWord[]; readonly isOpen: boolean } => {
  const hasBraces = word.parts?.some(({ type }) => type === 'BraceExpansion') === true;
  const spellings = hasBraces ? expandBraces(word.text) : [];
  const fields = new Fields();
  if (spellings.length < 2) addWord(fields, word, scope);
  else {
    for (const text of spellings) {
      const command = parse(`: ${text}`).commands[0]?.command;
      const found = command?.type === 'Command' ? command.args[0] : undefined;
      if (found?.type === 'Word') addWord(fields, found, scope);
      fields.end();
    }
  }
  return { words: fields.words(), isOpen: fields.isOpen };
};

/** Returns the alternatives of the first `{a,b}` of the text, expanded further, at most 32. */
const expandBraces = (text: string): readonly string[] => {
  let spellings: readonly string[] = [text];
  for (let round = 0; round < 6; round++) {
    const next = spellings.flatMap((spelling) => {
      const found = /^(.*?)(?<!\$)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(spelling);
      if (found === null) return [spelling];
      const [, before = '', list = '', after = ''] = found;
      return list.split(',').map((item) => before + item + after);
    });
    if (next.length === spellings.length || next.length > 32) return spellings;
    spellings = next;
  }
  return spellings;
};

/** Fields of a word while it is expanded. */
class Fields {
  isOpen = false;
  private readonly done: string[] = [];
  private draft = '';
  private hasText = false;
  private readonly globs = new Set<number>();
  private readonly splits: boolean;

  /** `splits` is false for text that stays a single field, as in an assignment. */
  constructor(splits = true) {
    this.splits = splits;
  }

  add(text: string, isQuoted: boolean): void {
    if (isQuoted || !this.splits) {
      this.draft += text;
      this.hasText = true;
      return;
    }
    const [first = '', ...others] = text.split(/[ \t\n]+/);
    this.draft += first;
    for (const other of others) {
      this.end();
      this.draft = other;
    }
  }

  glob(text: string): void {
    this.globs.add(this.done.length);
    this.draft += text;
  }

  end(): void {
    if (this.draft !== '' || this.hasText) this.done.push(this.draft);
    this.draft = '';
    this.hasText = false;
  }

  joined(): string {
    return [...this.done, this.draft].join(' ');
  }

  words(): readonly ShellWord[] {
    this.end();
    return this.done.map((text, index) => {
      const dynamic = text.includes(UNKNOWN);
      return { text, dynamic, splits: dynamic, glob: this.globs.has(index) };
    });
  }
}

const addWord = (fields: Fields, word: Word, scope: ValueScope): void => {
  if (word.parts === undefined) {
    fields.add(expandHome(word.value, scope), true);
    return;
  }
  for (const [index, part] of word.parts.entries()) {
    if (index === 0 && part.type === 'Literal') fields.add(expandHome(part.value, scope), true);
    else addPart(fields, part, scope, false);
  }
};

const expandHome = (text: string, { values }: ValueScope): string =>
  /^~(?:$|\/)/.test(text) ? (values.textsOf('HOME')?.[0]?.text ?? UNKNOWN) + text.slice(1) : text;

const addPart = (fields: Fields, part: WordPart, scope: ValueScope, isQuoted: boolean): void => {
  switch (part.type) {
    case 'AnsiCQuoted':
    case 'Literal':
    case 'SingleQuoted':
      fields.add(part.value, true);
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      fields.add('', true);
      for (const inner of part.parts) addPart(fields, inner, scope, true);
      return;
    case 'Glob':
    case 'ExtendedGlob':
      fields.isOpen = true;
      fields.glob(part.text);
      return;
    case 'SimpleExpansion':
      addKnown(fields, variable(part.text.slice(1), scope), isQuoted && part.text !== '$@');
      return;
    case 'ParameterExpansion':
      addKnown(fields, parameter(part, scope), isQuoted && !isList(part));
      return;
    case 'CommandExpansion':
      addKnown(fields, substituted(part.script, deeper(scope)) ?? OPEN_TEXT, isQuoted);
      return;
    case 'BraceExpansion':
      fields.add(part.text, true);
      return;
    default:
      // A number, or the name of a pipe such as `/dev/fd/63`.
      addKnown(fields, HARMLESS_TEXT, true);
  }
};

const substituted = (script: ParsedScript | undefined, scope: ValueScope | undefined) =>
  script === undefined || scope === undefined ? undefined : scope.printed(script, scope);

/** True for `${@}` and `${a[@]}`, which stay several words in quotes. */
const isList = ({ parameter: name, index }: ParameterExpansionPart) =>
  name === '@' || index?.text === '@';

const deeper = (scope: ValueScope): ValueScope | undefined =>
  scope.depth < MAX_DEPTH ? { ...scope, depth: scope.depth + 1 } : undefined;

const addKnown = (fields: Fields, { text, isOpen }: KnownText, isQuoted: boolean): void => {
  fields.isOpen ||= isOpen;
  fields.add(text, isQuoted);
};

/** Returns the value of a variable. A variable that the command line never sets belongs to the person. */
const variable = (name: string, { values, variant, everywhere, locals }: ValueScope): KnownText => {
  const local = locals?.get(name);
  if (local !== undefined) return local;
  const texts = values.textsOf(name, everywhere);
  return texts?.[Math.min(variant, texts.length - 1)] ?? HARMLESS_TEXT;
};

const isAssigned = (name: string, { values, everywhere }: ValueScope) =>
  !name.endsWith(']') || values.textsOf(name, everywhere) !== undefined;

const parameter = (part: ParameterExpansionPart, scope: ValueScope): KnownText => {
  const inner = deeper(scope);
  if (inner === undefined) return OPEN_TEXT;
  if (part.prefix === '#') return HARMLESS_TEXT;
  const name =
    part.index === undefined ? part.parameter : elementName(part.parameter, part.index, inner);
  const direct = variable(isAssigned(name, inner) ? name : `${part.parameter}[@]`, inner);
  const found = part.prefix === '!' ? indirect(direct, inner) : direct;
  const value = isList(part) ? { ...found, text: found.text.trim() } : found;
  return part.operation === undefined
    ? value
    : changedText(value, part.operation, {
        isList: isList(part),
        isArguments: part.parameter === '@',
        textOf: (word) => textOf(word, inner),
      });
};

/** Returns the name of an array element, with a negative index counted from the end. */
const elementName = (array: string, index: Word, scope: ValueScope): string => {
  const key = index.parts === undefined ? index.text : textOf(index, scope).text;
  const back = /^-\d+$/.test(key) ? Number(key) : 0;
  if (back === 0) return `${array}[${key}]`;
  let length = 0;
  while (isAssigned(`${array}[${length}]`, scope)) length++;
  return `${array}[${length + back}]`;
};

const indirect = (name: KnownText, scope: ValueScope): KnownText =>
  name.text.includes(UNKNOWN) ? name : variable(name.text, scope);
