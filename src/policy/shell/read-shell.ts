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
  private words = 0;
  private readonly environment: ShellEnvironment;
  private readonly known: Map<string, string>;
  /** True after the definition of a function with a `cd`, because it may be called from anywhere. */
  private areDirsIncomplete = false;
  private readonly functions = new Set<string>();

  constructor(cwd: string, environment: ShellEnvironment) {
    this.environment = environment;
    this.known = new Map([
      ['HOME', environment.home],
      ['PWD', cwd],
    ]);
  }

  source(text: string, context: CommandContext): ShellCwd {
    if (text.length > MAX_SOURCE_LENGTH) return this.giveUp('is too long');
    if (text.includes('\0')) return this.giveUp('contains a NUL character');
    return this.script(parse(text), context);
  }

  private giveUp(problem: string): never {
    throw new LimitExceeded(`The command line ${problem}, so it cannot be analysed.`);
  }

  private script(script: ParsedScript, context: CommandContext): ShellCwd {
    if (context.depth > MAX_DEPTH) return this.giveUp('is nested too deeply');
    if (script.errors !== undefined && script.errors.length > 0) {
      this.doubts.add(`The command line is not valid shell: ${script.errors[0]?.message}.`);
    }
    return this.statements(script.commands, { ...context, depth: context.depth + 1 });
  }

  private statements(list: readonly Statement[], context: CommandContext): ShellCwd {
    let here: ShellCwd = { ok: context.dirs, failed: context.dirs };
    for (const statement of list) {
      const both = mergeDirs(here.ok, here.failed);
      const dirs = this.areDirsIncomplete ? withIncompleteDirs(both) : both;
      const after = this.node(statement.command, { ...context, dirs });
      here = statement.background === true ? { ok: dirs, failed: dirs } : after;
    }
    return here;
  }

  private list(list: CompoundList, context: CommandContext): ShellCwd {
    return this.statements(list.commands, context);
  }

  private node(node: PipelineNode | AndOr | CompoundList, context: CommandContext): ShellCwd {
    const stays = { ok: context.dirs, failed: context.dirs };
    this.addHiddenEffects(node, context);
    switch (node.type) {
      case 'Command':
        return this.command(node, context);
      case 'AndOr':
        return followChain(node, context.dirs, (part, dirs) =>
          this.node(part, { ...context, dirs }),
        );
      case 'Pipeline':
        return this.pipeline(node.commands, context);
      case 'CompoundList':
        return this.list(node, context);
      case 'BraceGroup':
        return this.list(node.body, context);
      case 'Subshell':
        this.list(node.body, context);
        return stays;
      case 'Redirected': {
        const redirects = readRedirects(node.redirects, this.known);
        const stdin = readStdin(node.redirects, this.known) ?? context.stdin;
        for (const redirect of node.redirects) this.addSubstitutions(redirect, context);
        if (redirects.length > 0) this.add({ ...this.blank(context), redirects });
        return this.node(node.command, { ...context, stdin });
      }
      case 'If': {
        const test = this.list(node.clause, context);
        const ends = [this.list(node.then, { ...context, dirs: test.ok })];
        let otherwise = test.failed;
        for (const branch of node.elif) {
          const next = this.list(branch.clause, { ...context, dirs: otherwise });
          ends.push(this.list(branch.then, { ...context, dirs: next.ok }));
          otherwise = next.failed;
        }
        if (node.else) ends.push(this.list(node.else, { ...context, dirs: otherwise }));
        const all = ends.reduce(
          (so, { ok, failed }) => mergeDirs(so, mergeDirs(ok, failed)),
          otherwise,
        );
        return { ok: all, failed: all };
      }
      case 'Function':
        return this.define(node.name.value, node.body, context);
      case 'Coproc':
        this.node(node.body, context);
        return stays;
      default:
        return this.loop(node, context);
    }
  }

  /** Reads loops, cases and tests. The directory after a loop with a `cd` is unknown. */
  private loop(node: SyntaxNode, context: CommandContext): ShellCwd {
    const dirs = containsCd(node) ? withIncompleteDirs(context.dirs) : context.dirs;
    let after = dirs;
    const visit = (child: SyntaxNode): void => {
      this.addHiddenEffects(child, context);
      if (child.type === 'CompoundList') {
        const { ok, failed } = this.list(child, { ...context, dirs });
        after = mergeDirs(after, mergeDirs(ok, failed));
      } else if (child.type === 'Script') this.script(child, { ...context, dirs });
      else forEachChild(child, visit);
    };
    forEachChild(node, visit);
    return { ok: after, failed: after };
  }

  private define(name: string, body: SyntaxNode, context: CommandContext): ShellCwd {
    this.functions.add(name);
    // The function replaces any program of its name from here on.
    this.add({ ...this.blank(context), words: [plainWord('function'), plainWord(name)] });
    if (containsCd(body)) this.areDirsIncomplete = true;
    if (isForkBomb(body, name)) this.isBomb = true;
    const dirs = this.areDirsIncomplete ? withIncompleteDirs(context.dirs) : context.dirs;
    if (body.type !== 'CompoundList' && !isCommandNode(body)) return { ok: dirs, failed: dirs };
    const { ok, failed } = this.node(body, { ...context, dirs, stdin: undefined });
    const after = mergeDirs(dirs, mergeDirs(ok, failed));
    return { ok: after, failed: after };
  }

  private pipeline(commands: readonly CommandNode[], context: CommandContext): ShellCwd {
    const start = this.parts.length;
    const [only] = commands;
    if (commands.length === 1 && only !== undefined) {
      const { ok, failed } = this.node(only, context);
      return { ok: mergeDirs(ok, failed), failed: mergeDirs(ok, failed) };
    }
    for (const [index, command] of commands.entries()) {
      const pipedFrom = index === 0 ? context.pipedFrom : this.parts.slice(start);
      const stdin = index === 0 ? context.stdin : undefined;
      this.node(command, { ...context, pipedFrom, stdin });
    }
    return { ok: context.dirs, failed: context.dirs };
  }

  private command(node: Command, context: CommandContext): ShellCwd {
    this.addSubstitutions(node, context);
    const { known } = this;
    const words: ShellWord[] = node.name === undefined ? [] : [readWord(node.name, known)];
    for (const word of node.args) {
      words.push(word.type === 'Word' ? readWord(word, known) : assignmentWord(word, known));
    }
    const assigned = node.prefix
      .filter((it) => it.type === 'Assignment')
      .map((it) => ({ name: it.name, value: assignedValue(it, known) }));
    for (const { name } of assigned) known.delete(name);
    const redirects = readRedirects(node.redirects, known);
    const stdin = readStdin(node.redirects, known) ?? context.stdin;
    return this.simple(
      { ...this.blank(context), words, assigned, redirects },
      { ...context, stdin },
    );
  }

  /** Adds a simple command and, if it is a wrapper, its inner commands. */
  private simple(part: ShellPart, context: CommandContext): ShellCwd {
    if (context.depth > MAX_DEPTH) return this.giveUp('is nested too deeply');
    const { inner, doubt, transparent } = unwrapCommand(part, context.stdin);
    this.add({ ...part, transparent });
    if (doubt !== undefined) this.doubts.add(doubt);
    forgetAssigned(part.words, this.known);
    if (isExit(part.words) && !this.functions.has('exit'))
      return { ok: UNREACHED, failed: UNREACHED };
    let here = changesDir(part.words)
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
        const words = { words: found.words, assigned: found.assigned ?? [] };
        const deeper = this.simple(
          { ...this.blank({ ...next, dirs }), ...words },
          { ...next, dirs },
        );
        if (found.sameShell) here = deeper;
      } else {
        // Source of `eval` or `-c` reads the same standard input, unless the source itself came from there.
        const isRead = found.source === context.stdin?.text;
        const after = this.source(found.source, isRead ? { ...next, stdin: undefined } : next);
        if (found.sameShell) here = after;
      }
    }
    return here;
  }

  /** Adds a part for each hidden effect. An evaluation counts as `let`, which runs code in a value. */
  private addHiddenEffects(node: SyntaxNode, context: CommandContext): void {
    const { evaluates, sets: name } = hiddenEffects(node);
    if (evaluates) this.add({ ...this.blank(context), words: LET });
    if (name === undefined) return;
    this.known.delete(name);
    this.add({ ...this.blank(context), assigned: [{ name, value: unknownWord(false) }] });
  }

  private blank({ dirs, wrappers, pipedFrom }: CommandContext): ShellPart {
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
    this.words += part.words.length;
    if (this.parts.length >= MAX_PARTS || this.words > MAX_WORDS) {
      this.giveUp('has too many parts');
    }
    this.parts.push(part);
  }

  /** Adds the parts of command substitutions, which run before the command. */
  private addSubstitutions(node: SyntaxNode, context: CommandContext): void {
    const visit = (child: SyntaxNode): void => {
      this.addHiddenEffects(child, context);
      if (child.type === 'Script') this.script(child, { ...context, stdin: undefined });
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
