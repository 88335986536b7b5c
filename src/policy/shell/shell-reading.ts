/**
 * Reads a command line into every simple command in it, wherever it stands: in pipelines, lists,
 * loops, functions, substitutions, here-documents, and behind programs that run other programs.
 *
 *   source ─▶ unbash ─▶ walk ─▶ parts ─▶ (unwrap ─▶ parts or source, again)
 *
 * Never throws. What cannot be read is a doubt, and a doubt is asked about.
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
import {
  chained,
  isExit,
  isMove,
  lost,
  merge,
  moved,
  NOWHERE,
  type ShellCwd,
} from './shell-cwd.js';
import type { ShellPart, ShellReading, ShellWorld } from './shell-part.js';
import { type Context, readRedirects, readStdin } from './shell-redirects.js';
import { bombs, containsMove, evaluates, isCommandNode, setsVariable } from './shell-syntax.js';
import {
  assignedValue,
  assignmentWord,
  forgetSet,
  plainWord,
  readWord,
  type ShellWord,
  unknownWord,
} from './shell-words.js';
import { unwrap } from './shell-wrappers.js';

const [LONGEST_SOURCE, MOST_PARTS, MOST_WORDS, DEEPEST] = [128 * 1024, 1000, 5000, 24];
const LET = [plainWord('let'), unknownWord(false)];

export const readShell = (source: string, cwd: string, world: ShellWorld): ShellReading => {
  const reader = new Reader(cwd, world);
  try {
    reader.source(source, {
      dirs: { paths: [cwd], isLost: false },
      within: [],
      depth: 0,
      fedBy: [],
      stdin: undefined,
    });
  } catch (error) {
    // Else a defect of the parser, or a stack that is too deep: nobody has understood it.
    const isKnown = error instanceof TooMuch;
    reader.doubts.add(isKnown ? error.message : 'The command line cannot be understood.');
  }
  return { source, parts: reader.parts, doubts: [...reader.doubts], isBomb: reader.isBomb };
};

/** Ends a reading that would take too long. */
class TooMuch extends Error {}

class Reader {
  readonly parts: ShellPart[] = [];
  readonly doubts = new Set<string>();
  isBomb = false;
  private words = 0;
  private readonly world: ShellWorld;
  private readonly known: Map<string, string>;
  /** A function may be called from anywhere, so whatever it does to the directory is done always. */
  private isLost = false;
  private readonly functions = new Set<string>();

  constructor(cwd: string, world: ShellWorld) {
    this.world = world;
    this.known = new Map([
      ['HOME', world.home],
      ['PWD', cwd],
    ]);
  }

  source(text: string, context: Context): ShellCwd {
    if (text.length > LONGEST_SOURCE) return this.giveUp('The command line is too long');
    if (text.includes('\0')) return this.giveUp('The command line has a NUL character and is not');
    return this.script(parse(text), context);
  }

  private giveUp(what: string): never {
    throw new TooMuch(`${what} to be understood.`);
  }

  private script(script: ParsedScript, context: Context): ShellCwd {
    if (context.depth > DEEPEST) return this.giveUp('The command line is nested too deep');
    if (script.errors !== undefined && script.errors.length > 0) {
      this.doubts.add(`The command line is no valid shell: ${script.errors[0]?.message}.`);
    }
    return this.statements(script.commands, { ...context, depth: context.depth + 1 });
  }

  private statements(list: readonly Statement[], context: Context): ShellCwd {
    let here: ShellCwd = { ok: context.dirs, failed: context.dirs };
    for (const statement of list) {
      const both = merge(here.ok, here.failed);
      const dirs = this.isLost ? lost(both) : both;
      const after = this.node(statement.command, { ...context, dirs });
      here = statement.background === true ? { ok: dirs, failed: dirs } : after;
    }
    return here;
  }

  private list(list: CompoundList, context: Context): ShellCwd {
    return this.statements(list.commands, context);
  }

  private node(node: PipelineNode | AndOr | CompoundList, context: Context): ShellCwd {
    const stays = { ok: context.dirs, failed: context.dirs };
    this.notice(node, context);
    switch (node.type) {
      case 'Command':
        return this.command(node, context);
      case 'AndOr':
        return chained(node, context.dirs, (it, dirs) => this.node(it, { ...context, dirs }));
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
        for (const it of node.redirects) this.inside(it, context);
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
        const all = ends.reduce((so, { ok, failed }) => merge(so, merge(ok, failed)), otherwise);
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

  /** Loops, cases and tests. What a loop does to the directory it does an unknown number of times. */
  private loop(node: SyntaxNode, context: Context): ShellCwd {
    const dirs = containsMove(node) ? lost(context.dirs) : context.dirs;
    let after = dirs;
    const visit = (child: SyntaxNode): void => {
      this.notice(child, context);
      if (child.type === 'CompoundList') {
        const { ok, failed } = this.list(child, { ...context, dirs });
        after = merge(after, merge(ok, failed));
      } else if (child.type === 'Script') this.script(child, { ...context, dirs });
      else forEachChild(child, visit);
    };
    forEachChild(node, visit);
    return { ok: after, failed: after };
  }

  private define(name: string, body: SyntaxNode, context: Context): ShellCwd {
    this.functions.add(name);
    // It stands in for a program from now on.
    this.add({ ...this.blank(context), words: [plainWord('function'), plainWord(name)] });
    if (containsMove(body)) this.isLost = true;
    if (bombs(body, name)) this.isBomb = true;
    const dirs = this.isLost ? lost(context.dirs) : context.dirs;
    if (body.type !== 'CompoundList' && !isCommandNode(body)) return { ok: dirs, failed: dirs };
    const { ok, failed } = this.node(body, { ...context, dirs, stdin: undefined });
    const after = merge(dirs, merge(ok, failed));
    return { ok: after, failed: after };
  }

  private pipeline(commands: readonly CommandNode[], context: Context): ShellCwd {
    const start = this.parts.length;
    const [only] = commands;
    if (commands.length === 1 && only !== undefined) {
      const { ok, failed } = this.node(only, context);
      return { ok: merge(ok, failed), failed: merge(ok, failed) };
    }
    for (const [index, command] of commands.entries()) {
      const fedBy = index === 0 ? context.fedBy : this.parts.slice(start);
      const stdin = index === 0 ? context.stdin : undefined;
      this.node(command, { ...context, fedBy, stdin });
    }
    return { ok: context.dirs, failed: context.dirs };
  }

  private command(node: Command, context: Context): ShellCwd {
    this.inside(node, context);
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

  /** A simple command and, if it runs another program, what it runs. */
  private simple(part: ShellPart, context: Context): ShellCwd {
    if (context.depth > DEEPEST) return this.giveUp('The command line is nested too deep');
    const { inner, doubt, transparent } = unwrap(part, context.stdin);
    this.add({ ...part, transparent });
    if (doubt !== undefined) this.doubts.add(doubt);
    forgetSet(part.words, this.known);
    if (isExit(part.words) && !this.functions.has('exit')) return { ok: NOWHERE, failed: NOWHERE };
    let here = isMove(part.words)
      ? moved(part.words, context.dirs, this.world)
      : { ok: context.dirs, failed: context.dirs };
    const within = [...context.within, part.words[0]?.text ?? ''];
    const next = { ...context, within, depth: context.depth + 1 };
    for (const it of inner) {
      if (it.kind === 'words') {
        const dirs =
          it.from === undefined ? context.dirs : moved(it.from, context.dirs, this.world).ok;
        const words = { words: it.words, assigned: it.assigned ?? [] };
        const deeper = this.simple(
          { ...this.blank({ ...next, dirs }), ...words },
          { ...next, dirs },
        );
        if (it.sameShell) here = deeper;
      } else {
        // Who is run by `eval` or `-c` reads the same input, unless the script itself came from it.
        const isRead = it.source === context.stdin?.text;
        const after = this.source(it.source, isRead ? { ...next, stdin: undefined } : next);
        if (it.sameShell) here = after;
      }
    }
    return here;
  }

  /** To evaluate a variable is to run what it holds, as `let` does. */
  private notice(node: SyntaxNode, context: Context): void {
    if (evaluates(node)) this.add({ ...this.blank(context), words: LET });
    const name = setsVariable(node);
    if (name === undefined) return;
    this.known.delete(name);
    this.add({ ...this.blank(context), assigned: [{ name, value: unknownWord(false) }] });
  }

  private blank({ dirs, within, fedBy }: Context): ShellPart {
    return {
      words: [],
      assigned: [],
      redirects: [],
      within,
      fedBy,
      transparent: false,
      dirs: dirs.paths,
      isLost: dirs.isLost || this.isLost,
    };
  }

  private add(part: ShellPart): void {
    this.words += part.words.length;
    if (this.parts.length >= MOST_PARTS || this.words > MOST_WORDS) {
      throw new TooMuch('The command line has too many parts to be understood.');
    }
    this.parts.push(part);
  }

  /** Scripts in the words of a command, which run before it does. */
  private inside(node: SyntaxNode, context: Context): void {
    const visit = (child: SyntaxNode): void => {
      this.notice(child, context);
      if (child.type === 'Script') this.script(child, { ...context, stdin: undefined });
      else forEachChild(child, visit);
    };
    forEachChild(node, visit);
  }
}
