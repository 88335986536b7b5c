/** Follows what commands print and the files that they write. */
import type { Command, SyntaxNode, Word, WordPart } from 'unbash';
import { type CommandContext, isInput } from '../read-redirects.js';
import {
  argumentsOf,
  operandsOf,
  programOf,
  type ShellPart,
  type ShellRedirect,
} from '../shell-part.js';
import { plainWord, type ShellWord } from '../shell-word.js';
import { SHELL_PROGRAMS } from '../unwrap-command.js';
import { spellUnknown } from '../values/evaluator.js';
import { outputOf } from '../values/printed-text.js';
import { fileKey, type KnownText } from '../values/shell-values.js';
import { WordReader } from './word-reader.js';

const MAX_GUESSED_LINES = 100;

export abstract class OutputReader extends WordReader {
  /** Files that the command line writes, by `fileKey`. */
  private readonly written = new Set<string>();

  /** Returns the output of a command. Undefined if its text does not tell it. */
  protected printedBy(node: SyntaxNode, input: KnownText | undefined): KnownText | undefined {
    return this.isRebuilding ? outputOf(node, input, this.scope) : undefined;
  }

  /** Reads each line of a text in place of the program, because a guess may have too many lines. */
  protected readLines(name: Word | undefined, context: CommandContext): void {
    for (const text of this.textsOfProgram(name?.parts?.[0])) {
      const lines = text.split('\n').slice(0, MAX_GUESSED_LINES);
      const source = spellUnknown(lines.join('\n'));
      if (lines.length > 1) this.source(source, { ...context, depth: context.depth + 1 });
    }
  }

  private textsOfProgram(part: WordPart | undefined): readonly string[] {
    if (part?.type === 'CommandExpansion') {
      const known = part.script && this.scope.printed(part.script, this.scope);
      return known === undefined ? [] : [known.text];
    }
    const [, name] = /^\$\{?(\w+)\}?$/.exec(part?.text ?? '') ?? [];
    return name === undefined ? [] : (this.values.textsOf(name) ?? []).map(({ text }) => text);
  }

  /** Returns the command with the text that its standard input, its descriptors or its script file have. */
  protected withKnownInput(
    node: Command,
    part: ShellPart,
    context: CommandContext,
  ): { readonly part: ShellPart; readonly context: CommandContext } {
    const program = programOf(part) ?? '';
    const isShell = SHELL_PROGRAMS.has(program) || /^(?:source|\.)$/.test(program);
    if (program === 'exec' && part.words.length === 1)
      this.streams.keep(node.redirects, this.scope);
    const file = isShell
      ? argumentsOf(part).find(({ text }) => this.values.files.has(fileKey(text)))
      : undefined;
    const text =
      this.values.files.get(fileKey(file?.text ?? '')) ??
      this.streams.inputOf(node, isShell, this.scope) ??
      context.printed?.text;
    if (text === undefined) return { part, context };
    const isPipe = (word: ShellWord) => word === file || PIPE_FILE.test(word.text);
    const words = isShell
      ? part.words.map((word) => (isPipe(word) ? plainWord('/dev/stdin') : word))
      : part.words;
    return {
      part: { ...part, words },
      context: { ...context, stdin: { text: spellUnknown(text) } },
    };
  }

  /** Records the files that a command writes. */
  protected keepOutput(node: Command, part: ShellPart, { printed: input }: CommandContext): void {
    const names = writtenFiles(part);
    this.noteFiles(part.redirects, names);
    if (!this.isRebuilding) return;
    const read = (word: Word) => this.readWord(word).text;
    const text = this.printedBy(withoutOutput(node), input)?.text ?? '';
    this.values.keepFiles(node.redirects, text, read);
    const copied = argumentsOf(part).find((word) => this.values.files.has(fileKey(word.text)));
    const kept = /^(?:tee|dd)$/.test(programOf(part) ?? '')
      ? text
      : this.values.files.get(fileKey(copied?.text ?? ''));
    for (const name of names) if (kept !== undefined) this.values.files.set(fileKey(name), kept);
  }

  /** Records files that the command line writes. To use such a file later is a reason to rebuild. */
  protected noteFiles(redirects: readonly ShellRedirect[], names: readonly string[] = []): void {
    const written = redirects.filter(({ writes }) => writes).map(({ target }) => target.text);
    for (const name of [...written, ...names]) this.written.add(fileKey(name));
  }

  /** True if the command reads or runs a file that the command line wrote before. */
  private usesWritten({ words, redirects }: ShellPart): boolean {
    if (this.written.size === 0) return false;
    const inputs = redirects.filter(({ writes }) => !writes).map(({ target }) => target);
    return [...words, ...inputs].some(({ text }) => this.written.has(fileKey(text)));
  }

  protected override evaluateWords(part: ShellPart, context: CommandContext): void {
    this.hasGuesses ||= this.usesWritten(part);
    super.evaluateWords(part, context);
  }
}

/** Returns the command without the redirections of its output. */
export const withoutOutput = ({
  type,
  name,
  prefix,
  suffix,
  args,
  redirects,
  pos,
  end,
}: Command) => ({
  type,
  name,
  prefix,
  suffix,
  args,
  redirects: redirects.filter(isInput),
  pos,
  end,
});

/** Returns the files that a program writes without a redirection. */
const writtenFiles = (part: ShellPart): readonly string[] => {
  const operands = operandsOf(part).map(({ text }) => text);
  switch (programOf(part)) {
    case 'tee':
      return operands;
    case 'dd':
      return operands.flatMap((text) => (text.startsWith('of=') ? [text.slice(3)] : []));
    case 'cp':
    case 'mv':
    case 'ln':
    case 'install':
      return operands.slice(-1);
    default:
      return [];
  }
};

const PIPE_FILE = /^(?:\0|\/dev\/fd\/\d+|\/proc\/(?:self|\$\$)\/fd\/\d+)$/;
