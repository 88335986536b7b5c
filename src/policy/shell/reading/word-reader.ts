/** Collects the parts of a command line: words, hidden effects, and text that the shell evaluates again. */
import type { Assignment, SyntaxNode, Word } from 'unbash';
import { commandsInCode } from '../code-launchers.js';
import { hiddenEffects } from '../hidden-effects.js';
import type { CommandContext } from '../read-redirects.js';
import { programOf, type ShellEnvironment, type ShellPart } from '../shell-part.js';
import {
  joinWords,
  plainWord,
  readWord,
  type ShellWord,
  spellWords,
  unknownWord,
} from '../shell-word.js';
import { unwrapCommand } from '../unwrap-command.js';
import type { UnwrappedCommand } from '../unwrapped-command.js';
import { Evaluator, spellUnknown } from '../values/evaluator.js';
import { guessOutput } from '../values/guess-output.js';
import { evaluatedVariable, nodeEvaluations, wordEvaluations } from '../values/node-evaluations.js';
import { textsOf, valueScope } from '../values/printed-text.js';
import { rebuildWords, type ValueScope } from '../values/rebuild-words.js';
import { ShellStreams } from '../values/shell-streams.js';
import { ShellValues } from '../values/shell-values.js';
import { textsOfWord, ValueTracker } from '../values/value-tracker.js';
import { withArguments } from '../values/with-arguments.js';

/** In characters. */
export const MAX_SOURCE_LENGTH = 128 * 1024;
const MAX_PARTS = 1000;
const MAX_WORDS = 5000;
export const MAX_DEPTH = 24;
const LET = [plainWord('let'), unknownWord(false)];

/** Stops an analysis that would take too long. */
export class LimitExceeded extends Error {}

/** Programs that take words or values from their input. */
const READS = new Set('read mapfile readarray xargs make gmake'.split(' '));

export interface ReaderOptions {
  /** Former reading of the same command line. Its values are known from the start. */
  readonly earlier: WordReader;
  /** Index of the values to put into the words. Undefined for a reading of the certain text only. */
  readonly variant?: number;
}

const NOWHERE: CommandContext = {
  dirs: { paths: [], isIncomplete: true },
  wrappers: [],
  depth: 0,
  pipedFrom: [],
  stdin: undefined,
};

export abstract class WordReader {
  readonly parts: ShellPart[] = [];
  readonly doubts = new Set<string>();
  readonly values: ShellValues;
  isBomb = false;
  syntaxError: string | undefined;
  protected wordCount = 0;
  protected readonly environment: ShellEnvironment;
  protected readonly variables: Map<string, string>;
  /** True after the definition of a function with a `cd`, because it may be called from anywhere. */
  protected areDirsIncomplete = false;
  protected hasRepeats = false;
  /** True if the values of variables tell more about a word than is certain. */
  protected hasGuesses = false;
  protected readonly functions: Set<string>;
  protected readonly aliases: Map<string, string>;
  protected readonly evaluated = new Map<string, 'arithmetic' | 'name'>();
  protected readonly streams = new ShellStreams();
  protected readonly variant: number | undefined;
  protected readonly evaluator: Evaluator;
  protected readonly tracker: ValueTracker;
  protected present: CommandContext = NOWHERE;

  constructor(cwd: string, environment: ShellEnvironment, options?: ReaderOptions) {
    this.environment = environment;
    this.variant = options?.variant;
    this.variables = new Map([
      ['HOME', environment.home],
      ['PWD', cwd],
    ]);
    this.values = new ShellValues([...this.variables, ['IFS', ' ']], options?.earlier.values);
    if (options?.variant !== undefined) this.values.guess = guessOutput;
    this.functions = new Set(options?.earlier.functions);
    this.aliases = new Map(options?.earlier.aliases);
    this.evaluator = new Evaluator({
      values: this.values,
      read: (source, context) => this.source(source, { ...context, stdin: undefined }),
      doubt: (sentence) => this.doubts.add(sentence),
    });
    this.tracker = new ValueTracker(this.values, (name, texts) => {
      const kind = this.evaluated.get(name) ?? evaluatedVariable(name);
      if (kind !== undefined) this.evaluator.evaluate(kind, texts, this.present);
    });
  }

  /** True if a loop or a function may use a value that is assigned after it. */
  get needsSecondReading(): boolean {
    return this.hasRepeats && this.values.hasAssigned;
  }

  /** True if the command line must be rebuilt to know its commands. */
  get isUncertain(): boolean {
    return this.hasGuesses || this.doubts.size > 0 || this.aliases.size > 0;
  }

  /** Reads shell source and adds its parts. */
  abstract source(text: string, context: CommandContext): unknown;

  protected giveUp(problem: string): never {
    throw new LimitExceeded(`The command line ${problem}, so it cannot be analysed.`);
  }

  /** Unwraps a command. A reader that rebuilds also unwraps text with unknown stretches. */
  protected unwrap(part: ShellPart, stdin: CommandContext['stdin']): UnwrappedCommand {
    const unwrapped = unwrapCommand(part, stdin);
    const guessed = commandsInCode(part, stdin?.text);
    this.hasGuesses ||= guessed.length > 0;
    if (this.isRebuilding && guessed.length > 0) {
      const sources = guessed.map((source) => ({ kind: 'source', source }) as const);
      return { ...unwrapped, inner: [...unwrapped.inner, ...sources] };
    }
    if (this.isRebuilding && programOf(part) === 'xargs' && stdin?.text !== undefined)
      return { ...unwrapped, inner: withArguments(unwrapped.inner, stdin.text) };
    if (!this.isRebuilding || unwrapped.doubt === undefined || unwrapped.inner.length > 0)
      return unwrapped;
    const words = part.words.map((word) => ({
      ...plainWord(spellUnknown(word.text)),
      glob: word.glob,
    }));
    const text = stdin?.text === undefined ? undefined : spellUnknown(stdin.text);
    return unwrapCommand({ ...part, words }, stdin && { ...stdin, text });
  }

  /** Reads the arguments that a builtin evaluates, the call of a function, and the call of an alias. */
  protected evaluateWords(part: ShellPart, context: CommandContext): void {
    this.hasGuesses ||= READS.has(programOf(part) ?? '');
    const deeper = { ...context, depth: context.depth + 1 };
    for (const { kind, word } of wordEvaluations(part))
      this.evaluator.evaluate(kind, textsOfWord(word), deeper);
    const [first, ...rest] = part.words;
    const name = first?.text ?? '';
    if (this.functions.has(name)) this.tracker.trackArguments(rest);
    const alias = this.aliases.get(name);
    if (alias !== undefined) {
      this.doubts.add(`"${name}" is an alias, so the command that it runs may differ.`);
      if (this.isRebuilding && alias !== '') {
        this.aliases.delete(name);
        this.source(`${alias} ${spellWords(rest)}`, deeper);
        this.aliases.set(name, alias);
      }
    }
    if (name === 'alias') {
      for (const { text } of rest) {
        const at = text.indexOf('=');
        if (at > 0) this.aliases.set(text.slice(0, at), spellUnknown(text.slice(at + 1)));
      }
    }
    if (/^(?:declare|typeset|local|integer)$/.test(name)) {
      const flags = rest.filter(({ text }) => text.startsWith('-')).map(({ text }) => text);
      const kind = flags.some((text) => text.includes('n')) ? 'name' : 'arithmetic';
      if (!flags.some((text) => /[in]/.test(text))) return;
      for (const { text } of rest) this.evaluated.set(text.replace(/\+?=.*$/s, ''), kind);
    }
  }

  /** Adds a part for each hidden effect. An evaluation counts as `let`, which runs code in a value. */
  protected addHiddenEffects(node: SyntaxNode, context: CommandContext): void {
    this.present = context;
    const { evaluates, sets: name } = hiddenEffects(node);
    if (evaluates) this.add({ ...this.emptyPart(context), words: LET });
    for (const { kind, word } of nodeEvaluations(node))
      this.evaluator.evaluate(kind, textsOf(word, this.values), context);
    this.tracker.trackNode(node);
    if (name === undefined) return;
    this.variables.delete(name);
    this.add({ ...this.emptyPart(context), assigned: [{ name, value: unknownWord(false) }] });
  }

  protected get isRebuilding(): boolean {
    return this.variant !== undefined;
  }

  protected get scope(): ValueScope {
    return valueScope(this.values, this.variant);
  }

  /** Reads a word of a command, which a value may split into several words. */
  protected readWords(word: Word): readonly ShellWord[] {
    return this.isRebuilding ? rebuildWords(word, this.scope) : [this.readWord(word)];
  }

  /** Reads a word that is not split. */
  protected readonly readWord = (word: Word): ShellWord => {
    if (this.isRebuilding) {
      const words = rebuildWords(word, this.scope);
      return words.length === 1 && words[0] !== undefined
        ? words[0]
        : { ...plainWord(joinWords(words)), dynamic: words.some(({ dynamic }) => dynamic) };
    }
    const found = readWord(word, this.variables);
    if (!found.dynamic && !found.glob) return found;
    const values = textsOf(word, this.values);
    this.hasGuesses ||= values.some(({ text }) => text !== found.text);
    return { ...found, values };
  };

  protected assignedValue({ value }: Assignment): ShellWord {
    return value.type === 'Word' ? this.readWord(value) : unknownWord(false);
  }

  protected emptyPart({ dirs, wrappers, pipedFrom }: CommandContext): ShellPart {
    return {
      words: [],
      assigned: [],
      redirects: [],
      wrappers,
      pipedFrom,
      transparent: false,
      dirs: dirs.paths,
      areDirsIncomplete: dirs.isIncomplete || this.areDirsIncomplete,
    };
  }

  protected add(part: ShellPart): void {
    this.wordCount += part.words.length;
    if (this.parts.length >= MAX_PARTS || this.wordCount > MAX_WORDS) {
      this.giveUp('has too many parts');
    }
    this.parts.push(part);
  }
}
