/**
 * Walks the syntax tree of a command line and collects its simple commands.
 *
 *   source ─▶ unbash ─▶ walk ─▶ parts ─▶ (unwrap ─▶ parts or source, again)
 *
 * A reader that rebuilds puts the values that the command line gives to variables into the words. Its parts are
 * guesses, which make a ruling stricter.
 */
import {
  type AndOr,
  type Command,
  type CommandNode,
  type CompoundList,
  forEachChild,
  type If,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Redirected,
  type Redirection,
  type Statement,
  type SyntaxNode,
} from 'unbash';
import { containsCd, isForkBomb } from '../hidden-effects.js';
import { type CommandContext, isInput, readRedirects, readStdin } from '../read-redirects.js';
import {
  afterCd,
  changesDir,
  followChain,
  isExit,
  mergeDirs,
  type ShellCwd,
  UNREACHED,
  withIncompleteDirs,
} from '../shell-cwd.js';
import { argumentsOf, type ShellPart } from '../shell-part.js';
import { assignmentWord, forgetAssigned, plainWord, UNKNOWN } from '../shell-word.js';
import { inputOf } from '../values/printed-text.js';
import { processOf, type StreamReader } from '../values/shell-streams.js';
import { fileKey, type KnownText } from '../values/shell-values.js';
import { textsOfWord } from '../values/value-tracker.js';
import { withGuessedProgram } from '../values/with-guessed-program.js';
import { OutputReader, withoutOutput } from './output-reader.js';
import { MAX_DEPTH, MAX_SOURCE_LENGTH } from './word-reader.js';

export class ShellReader extends OutputReader {
  /** True while the readers of an output are analysed. Their own output is not followed again. */
  private isFeeding = false;
  /** Standard input after an `exec` that replaces it. */
  private inherited: CommandContext['stdin'];
  /** Names of the functions whose calls are read. */
  private readonly calls = new Set<string>();

  source(text: string, context: CommandContext): ShellCwd {
    if (text.length > MAX_SOURCE_LENGTH) return this.giveUp('is too long');
    if (text.includes('\0')) return this.giveUp('contains a NUL character');
    return this.readScript(parse(text), context);
  }

  private readScript(script: ParsedScript, context: CommandContext): ShellCwd {
    if (context.depth > MAX_DEPTH) return this.giveUp('is nested too deeply');
    if (script.errors !== undefined && script.errors.length > 0) {
      this.syntaxError ??= `The command line is not valid shell: ${script.errors[0]?.message}.`;
    }
    return this.readStatements(script.commands, { ...context, depth: context.depth + 1 });
  }

  private readStatements(list: readonly Statement[], context: CommandContext): ShellCwd {
    let cwd: ShellCwd = { ok: context.dirs, failed: context.dirs };
    for (const statement of list) {
      const either = mergeDirs(cwd.ok, cwd.failed);
      const dirs = this.areDirsIncomplete ? withIncompleteDirs(either) : either;
      const after = this.readNode(statement.command, { ...context, dirs });
      cwd = statement.background === true ? { ok: dirs, failed: dirs } : after;
    }
    return cwd;
  }

  private readList(list: CompoundList, context: CommandContext): ShellCwd {
    return this.readStatements(list.commands, context);
  }

  private readNode(node: PipelineNode | AndOr | CompoundList, context: CommandContext): ShellCwd {
    const stays = { ok: context.dirs, failed: context.dirs };
    this.addHiddenEffects(node, context);
    switch (node.type) {
      case 'Command':
        return this.readCommand(node, context);
      case 'AndOr': {
        let isFirst = true;
        return followChain(node, context.dirs, (part, dirs) => {
          const read = () => this.readNode(part, { ...context, dirs });
          const cwd = isFirst ? read() : this.values.inBranch(read);
          isFirst = false;
          return cwd;
        });
      }
      case 'Pipeline':
        return this.readPipeline(node.commands, context);
      case 'CompoundList':
        return this.readList(node, context);
      case 'BraceGroup':
        return this.readList(node.body, context);
      case 'Subshell':
        this.values.inSubshell(() => this.readList(node.body, context));
        return stays;
      case 'Redirected':
        return this.readRedirected(node, context);
      case 'If':
        return this.values.inBranch(() => this.readIf(node, context));
      case 'Function':
        return this.defineFunction(node.name.value, node.body, context);
      case 'Coproc':
        if (this.isRebuilding) this.streams.keepCoprocess(node.body);
        // Any later command may write to its input.
        this.readNode(node.body, {
          ...context,
          pipedFrom: [this.emptyPart(context)],
          stdin: undefined,
        });
        return stays;
      default:
        return this.readLoop(node, context);
    }
  }

  private readRedirected(node: Redirected, context: CommandContext): ShellCwd {
    const redirects = readRedirects(node.redirects, this.readWord);
    const start = this.parts.length;
    const found = this.addSubstitutions(node.redirects, context);
    if (redirects.length > 0) this.add({ ...this.emptyPart(context), redirects });
    const inner = this.withInput(node.redirects, found.input, context);
    const cwd = this.readNode(node.command, inner);
    const printed = this.printedBy(node.command, inner.printed);
    const isFed = this.isRebuilding && !this.isFeeding;
    const readers = [...found.readers, ...(isFed ? this.streams.readersOf(node.redirects) : [])];
    this.feed(readers, this.parts.slice(start), context, printed);
    if (this.isRebuilding)
      this.values.keepFiles(
        node.redirects,
        printed?.text ?? '',
        (word) => this.readWord(word).text,
      );
    this.noteFiles(redirects);
    return cwd;
  }

  private readIf(node: If, context: CommandContext): ShellCwd {
    const test = this.readList(node.clause, context);
    const ends = [this.readList(node.then, { ...context, dirs: test.ok })];
    let otherwise = test.failed;
    for (const branch of node.elif) {
      const next = this.readList(branch.clause, { ...context, dirs: otherwise });
      ends.push(this.readList(branch.then, { ...context, dirs: next.ok }));
      otherwise = next.failed;
    }
    if (node.else) ends.push(this.readList(node.else, { ...context, dirs: otherwise }));
    const all = ends.reduce(
      (dirs, { ok, failed }) => mergeDirs(dirs, mergeDirs(ok, failed)),
      otherwise,
    );
    return { ok: all, failed: all };
  }

  /** Reads loops, cases and tests. The directory after a loop with a `cd` is unknown. */
  private readLoop(node: SyntaxNode, context: CommandContext): ShellCwd {
    const dirs = containsCd(node) ? withIncompleteDirs(context.dirs) : context.dirs;
    let after = dirs;
    const visit = (child: SyntaxNode): void => {
      this.addHiddenEffects(child, context);
      if (child.type === 'CompoundList') {
        const { ok, failed } = this.readList(child, { ...context, dirs });
        after = mergeDirs(after, mergeDirs(ok, failed));
      } else if (child.type === 'Script')
        this.values.inSubshell(() => this.readScript(child, { ...context, dirs }));
      else forEachChild(child, visit);
    };
    this.hasRepeats = true;
    this.values.inRepeat(() => forEachChild(node, visit));
    return { ok: after, failed: after };
  }

  private defineFunction(name: string, body: SyntaxNode, context: CommandContext): ShellCwd {
    this.functions.add(name);
    this.values.bodies.set(name, body);
    this.hasRepeats = true;
    // The function replaces any program of its name from here on.
    this.add({ ...this.emptyPart(context), words: [plainWord('function'), plainWord(name)] });
    if (containsCd(body)) this.areDirsIncomplete = true;
    if (isForkBomb(body, name)) this.isBomb = true;
    const dirs = this.areDirsIncomplete ? withIncompleteDirs(context.dirs) : context.dirs;
    if (body.type !== 'CompoundList' && !isCommandNode(body)) return { ok: dirs, failed: dirs };
    const { ok, failed } = this.values.inRepeat(() =>
      this.readNode(body, { ...context, dirs, stdin: undefined }),
    );
    const after = mergeDirs(dirs, mergeDirs(ok, failed));
    return { ok: after, failed: after };
  }

  private readPipeline(commands: readonly CommandNode[], context: CommandContext): ShellCwd {
    const start = this.parts.length;
    const [single] = commands;
    if (commands.length === 1 && single !== undefined) {
      const { ok, failed } = this.readNode(single, context);
      return { ok: mergeDirs(ok, failed), failed: mergeDirs(ok, failed) };
    }
    let { printed } = context;
    for (const [index, command] of commands.entries()) {
      const pipedFrom = index === 0 ? context.pipedFrom : this.parts.slice(start);
      const stdin = index === 0 ? context.stdin : undefined;
      const piped = { ...context, pipedFrom, stdin, printed };
      this.values.inSubshell(() => this.readNode(command, piped));
      printed = this.printedBy(command, printed);
    }
    return { ok: context.dirs, failed: context.dirs };
  }

  private readCommand(node: Command, context: CommandContext): ShellCwd {
    const { input, readers } = this.addSubstitutions([node], context);
    const inner = this.withInput(node.redirects, input, context);
    const words = node.name === undefined ? [] : [...this.readWords(node.name)];
    for (const arg of node.args) {
      if (arg.type === 'Word') words.push(...this.readWords(arg));
      else words.push(assignmentWord(arg, this.assignedValue(arg)));
    }
    const assignments = node.prefix.filter((item) => item.type === 'Assignment');
    const assigned = assignments.map((item) => ({
      name: item.name,
      value: this.assignedValue(item),
    }));
    for (const { name } of assigned) this.variables.delete(name);
    const redirects = readRedirects(node.redirects, this.readWord);
    this.present = inner;
    const track = () => {
      for (const item of assignments) this.tracker.trackAssignment(item);
    };
    if (node.name === undefined) track();
    else this.values.inBranch(track);
    const start = this.parts.length;
    const named = this.isRebuilding ? withGuessedProgram(words) : words;
    const part = { ...this.emptyPart(inner), words: named, assigned, redirects };
    if (named[0]?.text === 'exec' && named.length === 1 && node.redirects.some(isInput))
      this.inherited = { text: UNKNOWN };
    this.tracker.trackCommand(node, part, inner.printed);
    const cwd = this.isRebuilding
      ? this.readRebuilt(node, part, inner)
      : this.readSimple(part, inner);
    if (this.isRebuilding) this.readLines(node.name, inner);
    this.readCall(part, inner);
    this.keepOutput(node, part, context);
    const sources = [...part.pipedFrom, ...this.parts.slice(start)];
    const isFed = this.isRebuilding && !this.isFeeding;
    const all = [...readers, ...(isFed ? this.streams.readersOf(node.redirects) : [])];
    if (all.length > 0) {
      this.feed(all, sources, context, this.printedBy(withoutOutput(node), context.printed));
    }
    const last = words.at(-1);
    if (last !== undefined) this.values.assignLastWord(textsOfWord(last));
    return cwd;
  }

  /** Reads the body of a function that gets the input of its call. */
  private readCall(part: ShellPart, context: CommandContext): void {
    const name = part.words[0]?.text ?? '';
    const body = this.values.bodies.get(name);
    const hasInput = context.stdin !== undefined || context.pipedFrom.length > 0;
    if (body === undefined || !hasInput || this.calls.has(name)) return;
    this.calls.add(name);
    const dirs = withIncompleteDirs(context.dirs);
    const called = { ...context, dirs, depth: context.depth + 1 };
    if (body.type === 'CompoundList' || isCommandNode(body))
      this.values.inRepeat(() => this.readNode(body, called));
    this.calls.delete(name);
  }

  /** Reads a command with the text that its descriptors carry, and the file that it runs. */
  private readRebuilt(node: Command, part: ShellPart, context: CommandContext): ShellCwd {
    const script = this.values.files.get(fileKey(part.words[0]?.text ?? ''));
    if (script !== undefined) {
      this.tracker.trackArguments(argumentsOf(part));
      this.source(script, { ...context, depth: context.depth + 1 });
    }
    const known = this.withKnownInput(node, part, context);
    return this.readSimple(known.part, known.context);
  }

  /** Reads the commands that get the output of a command. */
  private feed(
    readers: readonly StreamReader[],
    pipedFrom: readonly ShellPart[],
    context: CommandContext,
    printed: KnownText | undefined,
  ): void {
    const wasFeeding = this.isFeeding;
    this.isFeeding = true;
    for (const reader of readers) {
      const fed = { ...context, pipedFrom, stdin: undefined, printed };
      this.values.inSubshell(() =>
        reader.type === 'Script' ? this.readScript(reader, fed) : this.readNode(reader, fed),
      );
    }
    this.isFeeding = wasFeeding;
  }

  private withInput(
    redirects: readonly Redirection[],
    input: readonly ShellPart[] | undefined,
    context: CommandContext,
  ): CommandContext {
    const printed = redirects.some(isInput) ? inputOf(redirects, this.scope) : context.printed;
    if (input !== undefined) return { ...context, pipedFrom: input, stdin: undefined, printed };
    const stdin = readStdin(redirects, this.readWord) ?? this.inherited ?? context.stdin;
    return { ...context, stdin, printed };
  }

  /** Adds a simple command and, if it is a wrapper, its inner commands. */
  private readSimple(part: ShellPart, context: CommandContext): ShellCwd {
    if (context.depth > MAX_DEPTH) return this.giveUp('is nested too deeply');
    const { inner, doubt, transparent } = this.unwrap(part, context.stdin);
    this.add({ ...part, transparent });
    if (doubt !== undefined) this.doubts.add(doubt);
    this.evaluateWords(part, context);
    forgetAssigned(part.words, this.variables);
    if (isExit(part.words) && !this.functions.has('exit'))
      return { ok: UNREACHED, failed: UNREACHED };
    let cwd = changesDir(part.words)
      ? afterCd(part.words, context.dirs, this.environment)
      : { ok: context.dirs, failed: context.dirs };
    const wrappers = [...context.wrappers, part.words[0]?.text ?? ''];
    const next = { ...context, wrappers, depth: context.depth + 1 };
    for (const found of inner) {
      if (found.kind === 'words') {
        const dirs =
          found.from === undefined
            ? context.dirs
            : afterCd(found.from, context.dirs, this.environment).ok;
        const simple = { words: found.words, assigned: found.assigned ?? [] };
        this.values.inBranch(() => {
          for (const { name, value } of simple.assigned)
            this.tracker.assign(name, textsOfWord(value));
        });
        const deeper = this.readSimple(
          { ...this.emptyPart({ ...next, dirs }), ...simple },
          { ...next, dirs },
        );
        if (found.sameShell) cwd = deeper;
      } else {
        const at = part.words.findIndex(({ text }) => text === found.source);
        if (at > 0 && !found.sameShell) this.tracker.trackArguments(part.words.slice(at + 1), 0);
        // Source of `eval` or `-c` reads the same standard input, unless the source itself came from there.
        const isRead = found.source === context.stdin?.text;
        const after = this.source(found.source, isRead ? { ...next, stdin: undefined } : next);
        if (found.sameShell) cwd = after;
      }
    }
    return cwd;
  }

  /**
   * Adds the parts of substitutions, which run before the command. Returns the parts that print its standard
   * input, and the commands that read its output.
   */
  private addSubstitutions(
    nodes: readonly SyntaxNode[],
    context: CommandContext,
  ): {
    readonly input: readonly ShellPart[] | undefined;
    readonly readers: readonly StreamReader[];
  } {
    const readers: StreamReader[] = [];
    let input: readonly ShellPart[] | undefined;
    const visit = (child: SyntaxNode): void => {
      this.addHiddenEffects(child, context);
      const start = this.parts.length;
      if (child.type === 'ProcessSubstitution' && child.operator === '>') {
        if (child.script !== undefined) readers.push(child.script);
      } else if (child.type === 'Script') {
        const fresh = { ...context, stdin: undefined, printed: undefined };
        this.values.inSubshell(() => this.readScript(child, fresh));
      } else forEachChild(child, visit);
      if (child.type === 'Redirect' && isInput(child) && processOf(child, '<') !== undefined)
        input = this.parts.slice(start);
    };
    for (const node of nodes) {
      if (node.type === 'Command') forEachChild(node, visit);
      else visit(node);
    }
    return { input, readers };
  }
}

const isCommandNode = (node: SyntaxNode): node is CommandNode => COMMAND_NODES.has(node.type);

const COMMAND_NODES = new Set(
  'Command If For ArithmeticFor Select While Subshell BraceGroup Case TestCommand ArithmeticCommand Redirected Function Coproc'.split(
    ' ',
  ),
);
