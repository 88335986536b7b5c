/**
 * Values that a command line gives to its variables, as far as its own text tells.
 *
 * They make a ruling stricter, never looser: they find the command that `x=rm; $x -rf /` runs, and the doubt in
 * `x=$(cat file); echo $((x))`, which runs code in the file.
 */
import { normalize } from 'node:path';
import type { Redirection, SyntaxNode, Word } from 'unbash';
import { UNKNOWN } from '../shell-word.js';
import type { ValueScope } from './rebuild-words.js';

/** One possible value. */
export interface KnownText {
  /** Text with an UNKNOWN character for each unknown stretch. */
  readonly text: string;
  /** True if an unknown stretch comes from a file, a program or a file name, so that it may contain a command. */
  readonly isOpen: boolean;
}

/** Value of a number or of a variable of the person's environment: unknown, but without a command. */
export const HARMLESS_TEXT: KnownText = { text: UNKNOWN, isOpen: false };
export const OPEN_TEXT: KnownText = { text: UNKNOWN, isOpen: true };

/** Maximum of possible values of a variable. */
export const MAX_TEXTS = 8;
/** In characters. A longer value counts as unknown, because `x+=$x` doubles it. */
const MAX_TEXT_LENGTH = 4 * 1024;

/** In characters. */
const MAX_FILE_LENGTH = 32 * 1024;

type Texts = readonly KnownText[];

/** Returns the output that a command may have. Undefined if nothing is known about it. */
type Guess = (
  node: SyntaxNode,
  input: KnownText | undefined,
  scope: ValueScope,
) => KnownText | undefined;

/** Returns the same key for `a` and `./a`. */
export const fileKey = (path: string): string => normalize(path);

export class ShellValues {
  private present: Map<string, Texts>;
  private readonly all: Map<string, Texts>;
  private branches = 0;
  private repeats = 0;
  /** Maximum of possible values of any variable. At least 1. */
  variants: number;
  /** True if the command line assigns a value. */
  hasAssigned = false;
  /** Set while a command line is rebuilt. */
  guess: Guess | undefined;
  guessSteps = 0;
  /** Texts that the command line writes to files, by `fileKey`. Only while a command line is rebuilt. */
  readonly files = new Map<string, string>();
  /** Variables that `declare -n` makes another name of a variable. */
  readonly references = new Map<string, string>();
  /** Bodies of functions by name. */
  readonly bodies = new Map<string, SyntaxNode>();

  /** `earlier` are all values of a former reading of the same command line. */
  constructor(initial: Iterable<readonly [string, string]>, earlier?: ShellValues) {
    const texts = [...initial].map(
      ([name, text]) => [name, [{ text, isOpen: false }]] as [string, Texts],
    );
    this.present = new Map(texts);
    this.variants = earlier?.variants ?? 1;
    this.all = new Map([...(earlier?.all ?? []), ...texts]);
  }

  /** True inside a loop or a function, where a variable may have a value that is assigned later in the text. */
  get isRepeated(): boolean {
    return this.repeats > 0;
  }

  /** Returns the values at this place, or of the whole command line. Undefined if it assigns none. */
  textsOf(variable: string, everywhere = false): Texts | undefined {
    const target = this.references.get(variable) ?? '';
    const name = /^[A-Za-z_]\w*$/.test(target) ? target : variable;
    return everywhere || this.repeats > 0
      ? (this.all.get(name) ?? this.present.get(name))
      : this.present.get(name);
  }

  assign(name: string, texts: Texts, isAppended = false): void {
    this.hasAssigned = true;
    const old = this.present.get(name) ?? [];
    const next = isAppended ? appended(old, texts) : texts;
    const bounded = next.map((known) => (known.text.length > MAX_TEXT_LENGTH ? OPEN_TEXT : known));
    this.present.set(name, this.branches > 0 ? union(old, bounded) : bounded.slice(0, MAX_TEXTS));
    const all = union(this.all.get(name) ?? [], bounded);
    this.all.set(name, all);
    this.variants = Math.max(this.variants, all.length);
  }

  /** Records text that is redirected to files. Returns false if it is redirected to none. */
  keepFiles(
    redirects: readonly Redirection[],
    text: string,
    read: (word: Word) => string,
  ): boolean {
    let isKept = false;
    for (const redirect of redirects) {
      if (redirect.type !== 'Redirect' || redirect.target === undefined) continue;
      if (!/^(?:&?>>?|>\|)$/.test(redirect.operator) || descriptorOf(redirect) !== 1) continue;
      if (redirect.target.parts?.[0]?.type === 'ProcessSubstitution') continue;
      const key = fileKey(read(redirect.target));
      this.files.set(key, ((this.files.get(key) ?? '') + text).slice(0, MAX_FILE_LENGTH));
      isKept = true;
    }
    return isKept;
  }

  /** Sets `$_`, which is the last word of the command before. */
  assignLastWord(texts: Texts): void {
    this.present.set('_', texts);
  }

  /** Runs the reading of a branch, which the shell may skip: its assignments do not replace earlier values. */
  inBranch<Result>(read: () => Result): Result {
    this.branches += 1;
    try {
      return read();
    } finally {
      this.branches -= 1;
    }
  }

  /** Runs the reading of a loop or a function. */
  inRepeat<Result>(read: () => Result): Result {
    this.repeats += 1;
    try {
      return this.inBranch(read);
    } finally {
      this.repeats -= 1;
    }
  }

  /** Runs the reading of a subshell: its assignments end with it. */
  inSubshell<Result>(read: () => Result): Result {
    const outer = this.present;
    this.present = new Map(outer);
    try {
      return read();
    } finally {
      this.present = outer;
    }
  }
}

const descriptorOf = ({ descriptor }: Redirection): number =>
  descriptor?.type === 'FileDescriptor' ? descriptor.value : 1;

const union = (a: Texts, b: Texts): Texts => {
  const found = new Map([...a, ...b].map((known) => [`${known.isOpen}${known.text}`, known]));
  // A harmless unknown text adds no knowledge to another text.
  if (found.size > 1) found.delete(`false${UNKNOWN}`);
  return [...found.values()].slice(0, MAX_TEXTS);
};

const appended = (old: Texts, added: Texts): Texts => {
  const starts = old.length === 0 ? [{ text: '', isOpen: false }] : old;
  return starts
    .flatMap((start) =>
      added.map(({ text, isOpen }) => ({
        text: start.text + text,
        isOpen: start.isOpen || isOpen,
      })),
    )
    .slice(0, MAX_TEXTS);
};
