/**
 * Splits a command line into all its simple commands.
 *
 * They may be in pipelines, lists, loops, functions, substitutions, here-documents, and behind wrappers.
 *
 *   source ─▶ unbash ─▶ walk ─▶ parts ─▶ (unwrap ─▶ parts or source, again)
 *
 * Syntax that cannot be analysed is a doubt, and a person is asked about it.
 */
import {
  type AndOr,
  type Command,
  type CommandNode,
  type CompoundList,
  forEachChild,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Statement,
  type SyntaxNode,
} from 'unbash';
import { containsCd, hiddenEffects, isForkBomb } from './hidden-effects.js';
import { type CommandContext, readRedirects, readStdin } from './read-redirects.js';
import {
  afterCd,
  changesDir,
  followChain,
  isExit,
  mergeDirs,
  type ShellCwd,
  UNREACHED,
  withIncompleteDirs,
} from './shell-cwd.js';
import type { ShellEnvironment, ShellPart, ShellReading } from './shell-part.js';
import {
  assignedValue,
  assignmentWord,
  forgetAssigned,
  plainWord,
  readWord,
  type ShellWord,
  unknownWord,
} from './shell-word.js';
import { unwrapCommand } from './unwrap-command.js';

/** In characters. */
const MAX_SOURCE_LENGTH = 128 * 1024;
const MAX_PARTS = 1000;
const MAX_WORDS = 5000;
const MAX_DEPTH = 24;
const LET = [plainWord('let'), unknownWord(false)];

/** Never throws. */
export const readShell = (
  source: string,
  cwd: string,
  environment: ShellEnvironment,
): ShellReading => {
  const reader = new Reader(cwd, environment);
  try {
    reader.source(source, {
      dirs: { paths: [cwd], isIncomplete: false },
      wrappers: [],
      depth: 0,
      pipedFrom: [],
      stdin: undefined,
    });
  } catch (error) {
    // Any other error is a defect of the parser or a stack overflow.
    const isLimit = error instanceof LimitExceeded;
    reader.doubts.add(isLimit ? error.message : 'The command line cannot be analysed.');
  }
  return { source, parts: reader.parts, doubts: [...reader.doubts], isBomb: reader.isBomb };
};

/** Stops an analysis that would take too long. */
class LimitExceeded extends Error {}

class Reader {
  readonly parts: ShellPart[] = [];
  readonly doubts = new Set<string>();
  isBomb = false;
  private wordCount = 0;
  private readonly environment: ShellEnvironment;
  private readonly variables: Map<string, string>;
  /** True after the definition of a function with a `cd`, because it may be called from anywhere. */
  private areDirsIncomplete = false;
  private readonly functions = new Set<string>();

  constructor(cwd: string, environment: ShellEnvironment) {
    this.environment = environment;
    this.variables = new Map([
      ['HOME', environment.home],
      ['PWD', cwd],
    ]);
  }

  source(text: string, context: CommandContext): ShellCwd {
    if (text.length > MAX_SOURCE_LENGTH) return this.giveUp('is too long');
    if (text.includes('\0')) return this.giveUp('contains a NUL character');
    return this.readScript(parse(text), context);
  }

  private giveUp(problem: string): never {
    throw new LimitExceeded(`The command line ${problem}, so it cannot be analysed.`);
  }

  private readScript(script: ParsedScript, context: CommandContext): ShellCwd {
    if (context.depth > MAX_DEPTH) return this.giveUp('is nested too deeply');
    if (script.errors !== undefined && script.errors.length > 0) {
      this.doubts.add(`The command line is not valid shell: ${script.errors[0]?.message}.`);
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
      case 'AndOr':
        return followChain(node, context.dirs, (part, dirs) =>
          this.readNode(part, { ...context, dirs }),
        );
      case 'Pipeline':
        return this.readPipeline(node.commands, context);
      case 'CompoundList':
        return this.readList(node, context);
      case 'BraceGroup':
        return this.readList(node.body, context);
      case 'Subshell':
        this.readList(node.body, context);
        return stays;
      case 'Redirected': {
        const redirects = readRedirects(node.redirects, this.variables);
        const stdin = readStdin(node.redirects, this.variables) ?? context.stdin;
        for (const redirect of node.redirects) this.addSubstitutions(redirect, context);
        if (redirects.length > 0) this.add({ ...this.emptyPart(context), redirects });
        return this.readNode(node.command, { ...context, stdin });
      }
      case 'If': {
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
      case 'Function':
        return this.defineFunction(node.name.value, node.body, context);
      case 'Coproc':
        this.readNode(node.body, context);
        return stays;
      default:
        return this.readLoop(node, context);
    }
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
      } else if (child.type === 'Script') this.readScript(child, { ...context, dirs });
      else forEachChild(child, visit);
    };
    forEachChild(node, visit);
    return { ok: after, failed: after };
  }

  private defineFunction(name: string, body: SyntaxNode, context: CommandContext): ShellCwd {
    this.functions.add(name);
    // The function replaces any program of its name from here on.
    this.add({ ...this.emptyPart(context), words: [plainWord('function'), plainWord(name)] });
    if (containsCd(body)) this.areDirsIncomplete = true;
    if (isForkBomb(body, name)) this.isBomb = true;
    const dirs = this.areDirsIncomplete ? withIncompleteDirs(context.dirs) : context.dirs;
    if (body.type !== 'CompoundList' && !isCommandNode(body)) return { ok: dirs, failed: dirs };
    const { ok, failed } = this.readNode(body, { ...context, dirs, stdin: undefined });
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
    for (const [index, command] of commands.entries()) {
      const pipedFrom = index === 0 ? context.pipedFrom : this.parts.slice(start);
      const stdin = index === 0 ? context.stdin : undefined;
      this.readNode(command, { ...context, pipedFrom, stdin });
    }
    return { ok: context.dirs, failed: context.dirs };
  }

  private readCommand(node: Command, context: CommandContext): ShellCwd {
    this.addSubstitutions(node, context);
    const { variables } = this;
    const words: ShellWord[] = node.name === undefined ? [] : [readWord(node.name, variables)];
    for (const word of node.args) {
      words.push(
        word.type === 'Word' ? readWord(word, variables) : assignmentWord(word, variables),
      );
    }
    const assigned = node.prefix
      .filter((assignment) => assignment.type === 'Assignment')
      .map((assignment) => ({
        name: assignment.name,
        value: assignedValue(assignment, variables),
      }));
    for (const { name } of assigned) variables.delete(name);
    const redirects = readRedirects(node.redirects, variables);
    const stdin = readStdin(node.redirects, variables) ?? context.stdin;
    return this.readSimple(
      { ...this.emptyPart(context), words, assigned, redirects },
      { ...context, stdin },
    );
  }

  /** Adds a simple command and, if it is a wrapper, its inner commands. */
  private readSimple(part: ShellPart, context: CommandContext): ShellCwd {
    if (context.depth > MAX_DEPTH) return this.giveUp('is nested too deeply');
    const { inner, doubt, transparent } = unwrapCommand(part, context.stdin);
    this.add({ ...part, transparent });
    if (doubt !== undefined) this.doubts.add(doubt);
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
        const deeper = this.readSimple(
          { ...this.emptyPart({ ...next, dirs }), ...simple },
          { ...next, dirs },
        );
        if (found.sameShell) cwd = deeper;
      } else {
        // Source of `eval` or `-c` reads the same standard input, unless the source itself came from there.
        const isRead = found.source === context.stdin?.text;
        const after = this.source(found.source, isRead ? { ...next, stdin: undefined } : next);
        if (found.sameShell) cwd = after;
      }
    }
    return cwd;
  }

  /** Adds a part for each hidden effect. An evaluation counts as `let`, which runs code in a value. */
  private addHiddenEffects(node: SyntaxNode, context: CommandContext): void {
    const { evaluates, sets: name } = hiddenEffects(node);
    if (evaluates) this.add({ ...this.emptyPart(context), words: LET });
    if (name === undefined) return;
    this.variables.delete(name);
    this.add({ ...this.emptyPart(context), assigned: [{ name, value: unknownWord(false) }] });
  }

  private emptyPart({ dirs, wrappers, pipedFrom }: CommandContext): ShellPart {
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

  private add(part: ShellPart): void {
    this.wordCount += part.words.length;
    if (this.parts.length >= MAX_PARTS || this.wordCount > MAX_WORDS) {
      this.giveUp('has too many parts');
    }
    this.parts.push(part);
  }

  /** Adds the parts of command substitutions, which run before the command. */
  private addSubstitutions(node: SyntaxNode, context: CommandContext): void {
    const visit = (child: SyntaxNode): void => {
      this.addHiddenEffects(child, context);
      if (child.type === 'Script') this.readScript(child, { ...context, stdin: undefined });
      else forEachChild(child, visit);
    };
    forEachChild(node, visit);
  }
}

const isCommandNode = (node: SyntaxNode): node is CommandNode => COMMAND_NODES.has(node.type);

const COMMAND_NODES = new Set(
  'Command If For ArithmeticFor Select While Subshell BraceGroup Case TestCommand ArithmeticCommand Redirected Function Coproc'.split(
    ' ',
  ),
);
