/**
 * Reads a command line into every simple command in it, wherever it stands: in pipelines, lists,
 * loops, functions, substitutions, here-documents, and behind programs that run other programs.
 *
 *   source ─▶ unbash ─▶ walk ─▶ parts ─▶ (unwrap ─▶ parts or source, again)
 *
 * Never throws. What cannot be read is a doubt, and a doubt is asked about.
 */

import type {
  Command,
  CompoundList,
  PipelineNode,
  Redirection,
  Statement,
  SyntaxNode,
} from 'unbash';
import { type AndOr, type CommandNode, forEachChild, type ParsedScript, parse } from 'unbash';
import { type Dirs, isMove, merge, moved, type Whereabouts } from './shell-dirs.js';
import type { ShellPart, ShellReading, ShellRedirect, ShellWorld } from './shell-part.js';
import { readStdin, type Stdin } from './shell-stdin.js';
import { bombs, containsMove, isCommandNode } from './shell-syntax.js';
import { assignedValue, assignmentWord, readWord, type ShellWord } from './shell-words.js';
import { unwrap } from './shell-wrappers.js';

const LONGEST_SOURCE = 128 * 1024;
const MOST_PARTS = 1000;
const DEEPEST = 24;

export const readShell = (source: string, cwd: string, world: ShellWorld): ShellReading => {
  const reader = new Reader(cwd, world);
  try {
    reader.source(source, { dirs: [cwd], within: [], depth: 0, fedBy: [], stdin: undefined });
  } catch {
    // A defect of the parser, or a stack that is too deep: either way nobody has understood it.
    reader.doubts.add('The command line cannot be understood.');
  }
  return { source, parts: reader.parts, doubts: [...reader.doubts], isBomb: reader.isBomb };
};

interface Context {
  readonly dirs: Dirs;
  readonly within: readonly string[];
  readonly depth: number;
  readonly fedBy: readonly ShellPart[];
  readonly stdin: Stdin | undefined;
}

class Reader {
  readonly parts: ShellPart[] = [];
  readonly doubts = new Set<string>();
  isBomb = false;
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

  source(text: string, context: Context): Whereabouts {
    if (text.length > LONGEST_SOURCE) return this.giveUp('The command line is too long', context);
    if (text.includes('\0')) return this.giveUp('The command line has a NUL character', context);
    return this.script(parse(text), context);
  }

  private giveUp(what: string, { dirs }: Context): Whereabouts {
    this.doubts.add(`${what} to be understood.`);
    return { ok: dirs, failed: dirs };
  }

  private script(script: ParsedScript, context: Context): Whereabouts {
    if (context.depth > DEEPEST) return this.giveUp('The command line is nested too deep', context);
    if (script.errors !== undefined && script.errors.length > 0) {
      this.doubts.add(`The command line is no valid shell: ${script.errors[0]?.message}.`);
    }
    return this.statements(script.commands, { ...context, depth: context.depth + 1 });
  }

  private statements(list: readonly Statement[], context: Context): Whereabouts {
    let here: Whereabouts = { ok: context.dirs, failed: context.dirs };
    for (const statement of list) {
      const dirs = this.isLost ? undefined : merge(here.ok, here.failed);
      const after = this.node(statement.command, { ...context, dirs });
      here = statement.background === true ? { ok: dirs, failed: dirs } : after;
    }
    return here;
  }

  private list({ commands }: CompoundList, context: Context): Whereabouts {
    return this.statements(commands, context);
  }

  private node(node: PipelineNode | AndOr | CompoundList, context: Context): Whereabouts {
    const { dirs } = context;
    const stays = { ok: dirs, failed: dirs };
    switch (node.type) {
      case 'Command':
        return this.command(node, context);
      case 'AndOr':
        return this.chain(node, context);
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
        const redirects = this.redirects(node.redirects);
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
  private loop(node: SyntaxNode, context: Context): Whereabouts {
    const dirs = containsMove(node) ? undefined : context.dirs;
    const visit = (child: SyntaxNode): void => {
      if (child.type === 'CompoundList') this.list(child, { ...context, dirs });
      else if (child.type === 'Script') this.script(child, { ...context, dirs });
      else forEachChild(child, visit);
    };
    if (node.type === 'For' || node.type === 'Select') this.known.delete(node.name.value);
    forEachChild(node, visit);
    return { ok: dirs, failed: dirs };
  }

  private define(name: string, body: SyntaxNode, context: Context): Whereabouts {
    this.functions.add(name);
    if (containsMove(body)) this.isLost = true;
    if (bombs(body, name)) this.isBomb = true;
    const dirs = this.isLost ? undefined : context.dirs;
    if (body.type === 'CompoundList' || isCommandNode(body)) {
      this.node(body, { ...context, dirs, stdin: undefined });
    }
    return { ok: dirs, failed: dirs };
  }

  private chain({ commands, operators }: AndOr, context: Context): Whereabouts {
    let here: Whereabouts | undefined;
    for (const [index, command] of commands.entries()) {
      if (here === undefined) here = this.node(command, context);
      else if (operators[index - 1] === '&&') {
        const next = this.node(command, { ...context, dirs: here.ok });
        here = { ok: next.ok, failed: merge(here.failed, next.failed) };
      } else {
        const next = this.node(command, { ...context, dirs: here.failed });
        here = { ok: merge(here.ok, next.ok), failed: next.failed };
      }
    }
    return here ?? { ok: context.dirs, failed: context.dirs };
  }

  private pipeline(commands: readonly CommandNode[], context: Context): Whereabouts {
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

  private command(node: Command, context: Context): Whereabouts {
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
    const redirects = this.redirects(node.redirects);
    const stdin = readStdin(node.redirects, known) ?? context.stdin;
    const part = { ...this.blank(context), words, assigned, redirects };
    return this.simple(part, { ...context, stdin });
  }

  /** A simple command and, if it runs another program, what it runs. */
  private simple(part: ShellPart, context: Context): Whereabouts {
    if (context.depth > DEEPEST) return this.giveUp('The command line is nested too deep', context);
    const { inner, doubt, transparent } = unwrap(part, context.stdin);
    this.add({ ...part, transparent });
    if (doubt !== undefined) this.doubts.add(doubt);
    this.forget(part.words);
    if (part.words[0]?.text === 'exit' && !this.functions.has('exit'))
      return { ok: [], failed: [] };
    let here = isMove(part.words)
      ? moved(part, this.world)
      : { ok: context.dirs, failed: context.dirs };
    const within = [...context.within, part.words[0]?.text ?? ''];
    const next = { ...context, within, depth: context.depth + 1 };
    for (const it of inner) {
      if (it.kind === 'words') {
        const dirs =
          it.from === undefined ? context.dirs : moved({ ...part, words: it.from }, this.world).ok;
        const { redirects: _, ...rest } = part;
        const deeper = this.simple(
          { ...rest, dirs, redirects: [], words: it.words, assigned: it.assigned ?? [], within },
          { ...next, dirs },
        );
        if (it.sameShell) here = deeper;
      } else {
        const after = this.source(it.source, { ...next, stdin: undefined });
        if (it.sameShell) here = after;
      }
    }
    return here;
  }

  /** A variable that is set on the way is no longer what it was at the start. */
  private forget(words: readonly ShellWord[]): void {
    if (isMove(words)) this.known.delete('PWD');
    for (const { text } of words.slice(1)) {
      const name = text.replace(/\+?=.*$/s, '');
      if (this.known.has(name)) this.known.delete(name);
    }
  }

  private blank({ dirs, within, fedBy }: Context): ShellPart {
    return {
      ...{ words: [], assigned: [], redirects: [], within, fedBy, transparent: false },
      dirs: this.isLost ? undefined : dirs,
    };
  }

  private add(part: ShellPart): void {
    if (this.parts.length < MOST_PARTS) this.parts.push(part);
    else this.doubts.add('The command line runs too many programs to be understood.');
  }

  /** Scripts in the words of a command, which run before it does. */
  private inside(node: SyntaxNode, context: Context): void {
    const visit = (child: SyntaxNode): void => {
      if (child.type === 'Script') this.script(child, { ...context, stdin: undefined });
      else forEachChild(child, visit);
    };
    forEachChild(node, visit);
  }

  private redirects(list: readonly Redirection[]): readonly ShellRedirect[] {
    const found: ShellRedirect[] = [];
    for (const it of list) {
      if (it.type !== 'Redirect' || it.target === undefined) continue;
      const target = readWord(it.target, this.known);
      const copies = it.operator === '>&' || it.operator === '<&';
      if (copies && /^(?:\d+-?|-)$/.test(target.text)) continue;
      found.push({ target, writes: !it.operator.startsWith('<') || it.operator === '<>' });
    }
    return found;
  }
}
