/**
 * Guesses the output of commands whose text does not tell it exactly: lists, loops, functions and filters.
 *
 * A guess may have more lines than the real output. It is used only while a command line is rebuilt, where it
 * makes a ruling stricter.
 */
import { type Command, forEachChild, parse, type Redirection, type SyntaxNode } from 'unbash';
import { UNKNOWN } from '../shell-word.js';
import { SHELL_PROGRAMS } from '../unwrap-command.js';
import { guessFiltered } from './guess-filtered.js';
import { inputOf, outputOf, outputOfCommand, printedText } from './printed-text.js';
import { expandWord, textOf, type ValueScope } from './rebuild-words.js';
import { fileKey, type KnownText } from './shell-values.js';

const MAX_DEPTH = 10;
/** Maximum of commands for a whole command line, because guesses of nested commands repeat. */
const MAX_STEPS = 3000;
/** Maximum of turns of a loop. */
const MAX_TURNS = 40;
/** In characters, because `x=$x$x` doubles a value. */
const MAX_LENGTH = 16 * 1024;
const EMPTY: KnownText = { text: '', isOpen: true };

/** Returns undefined if nothing is known about the output. */
export const guessOutput = (
  node: SyntaxNode,
  input: KnownText | undefined,
  scope: ValueScope,
): KnownText | undefined => {
  const { values } = scope;
  values.guessSteps += 1;
  if (values.guessSteps > MAX_STEPS || scope.depth > MAX_DEPTH) return undefined;
  const inner = { ...scope, depth: scope.depth + 1, locals: scope.locals ?? new Map() };
  if (node.type === 'Command') return guessCommand(node, input, inner);
  const text = guess(node, input, inner);
  return text === '' ? undefined : { text, isOpen: true };
};

const guess = (node: SyntaxNode, input: KnownText | undefined, scope: ValueScope): string => {
  const all = (nodes: readonly SyntaxNode[]) =>
    nodes.map((child) => outputOf(child, input, scope)?.text ?? '').join('');
  switch (node.type) {
    case 'Redirected': {
      const text = outputOf(node.command, inputOf(node.redirects, scope) ?? input, scope)?.text;
      return keepFiles(node.redirects, text ?? '', scope) ? '' : (text ?? '');
    }
    case 'Subshell':
      return guess(node.body, input, { ...scope, locals: new Map(scope.locals) });
    case 'For': {
      const words = node.wordlist?.flatMap((word) => expandWord(word, scope).words) ?? [];
      const turns = words.slice(0, MAX_TURNS).map(({ text }) => {
        scope.locals?.set(node.name.value, { text, isOpen: true });
        return all([node.body]);
      });
      return turns.join('');
    }
    case 'While': {
      const lines = input?.text.split('\n').filter((line) => line !== '') ?? [];
      const turns = (lines.length === 0 ? [''] : lines.slice(0, MAX_TURNS)).map((line) => {
        const given = input && { text: `${line}\n`, isOpen: true };
        return [node.clause, node.body].map((list) => guess(list, given, scope)).join('');
      });
      return turns.join('');
    }
    case 'Function':
      scope.values.bodies.set(node.name.value, node.body);
      return '';
    default: {
      const children: SyntaxNode[] = [];
      forEachChild(node, (child) => {
        if (child.type !== 'Word') children.push(child);
      });
      return all(children);
    }
  }
};

const guessCommand = (
  node: Command,
  piped: KnownText | undefined,
  scope: ValueScope,
): KnownText | undefined => {
  const files = node.args.flatMap((arg) => {
    const [part] = arg.type === 'Word' ? (arg.parts ?? []) : [];
    return part?.type === 'ProcessSubstitution' && part.operator === '<'
      ? (printedText(part.script, scope) ?? [])
      : [];
  });
  const given = inputOf(node.redirects, scope) ?? piped;
  for (const { descriptor } of node.redirects) {
    if (descriptor?.type !== 'FileDescriptor' || descriptor.value === 0) continue;
    files.push(...[inputOf(node.redirects, scope, descriptor.value)].flatMap((text) => text ?? []));
  }
  const input =
    files.length === 0
      ? given
      : {
          text: [...files, ...(given === undefined ? [] : [given])]
            .map(({ text }) => `${text}\n`)
            .join(''),
          isOpen: true,
        };
  for (const item of [...node.prefix, ...node.args]) {
    if (item.type === 'Assignment' && item.value.type === 'Word') {
      const before = item.append === true ? (scope.locals?.get(item.name)?.text ?? '') : '';
      const { text, isOpen } = textOf(item.value, scope);
      scope.locals?.set(item.name, { text: (before + text).slice(0, MAX_LENGTH), isOpen });
    }
  }
  const exact = outputOfCommand(node, input, scope);
  const all = [...(node.name === undefined ? [] : [node.name]), ...node.args];
  const words = all.flatMap((word) =>
    word.type === 'Word' ? expandWord(word, scope).words.map(({ text }) => text) : [],
  );
  const isName = words[0] === 'command' && /^-[vV]$/.test(words[1] ?? '');
  const guessed = guessProgram(isName ? words : withoutRunners(words), input, scope);
  const text = exact?.text ?? guessed;
  if (keepFiles(node.redirects, text, scope)) return { text: '', isOpen: true };
  return exact ?? (text === '' ? undefined : { text, isOpen: true });
};

const guessProgram = (
  [path = '', ...words]: readonly string[],
  input: KnownText | undefined,
  scope: ValueScope,
): string => {
  const program = path.replace(/^.*\//s, '');
  const script = (source: string, from = input) =>
    source === '' ? '' : (guessOutput(parse(source), from, scope)?.text ?? '');
  const body = scope.values.bodies.get(program);
  if (body !== undefined) {
    const locals = new Map(scope.locals);
    setArguments(locals, words);
    return guessOutput(body, input, { ...scope, locals })?.text ?? '';
  }
  if (program === 'read') {
    readNames(words, input, scope);
    return '';
  }
  if (program === 'set') {
    if (scope.locals !== undefined)
      setArguments(
        scope.locals,
        words.filter((word) => word !== '--'),
      );
    return '';
  }
  if (program === 'eval') return script(words.join(' '));
  if (SHELL_PROGRAMS.has(program)) {
    const at = words.findIndex((word) => /^-\w*c$/.test(word));
    const locals = new Map(scope.locals);
    setArguments(locals, words.slice(at + 3));
    return at < 0
      ? script(input?.text ?? '', EMPTY)
      : (guessOutput(parse(words[at + 1] ?? ''), input, { ...scope, locals })?.text ?? '');
  }
  if (/^(?:which|type|command)$/.test(program)) return `${words.at(-1) ?? ''}\n`;
  if (program === 'printenv')
    return `${scope.locals?.get(words[0] ?? '')?.text ?? textNamed(words[0] ?? '', scope)}\n`;
  const files = words.flatMap((word) => scope.values.files.get(fileKey(word)) ?? []).join('');
  if (/^(?:tee|dd)$/.test(program)) {
    for (const name of words) {
      if (!name.startsWith('-') && input !== undefined)
        scope.values.files.set(fileKey(name.replace(/^of=/, '')), input.text);
    }
  }
  return guessFiltered(program, words, files + (input?.text ?? ''));
};

const textNamed = (name: string, { values }: ValueScope): string =>
  values.textsOf(name)?.[0]?.text ?? '';

const setArguments = (locals: Map<string, KnownText>, words: readonly string[]): void => {
  for (const [at, text] of words.slice(0, 9).entries())
    locals.set(String(at + 1), { text, isOpen: true });
  for (const name of ['@', '*']) locals.set(name, { text: words.join(' '), isOpen: true });
};

const readNames = (
  words: readonly string[],
  input: KnownText | undefined,
  { locals }: ValueScope,
): void => {
  const names = words.filter((word) => /^[A-Za-z_]\w*$/.test(word));
  const line = input?.text.replace(/\n.*$/s, '') ?? UNKNOWN;
  const fields = line.trim().split(/\s+/);
  for (const [at, name] of (names.length === 0 ? ['REPLY'] : names).entries()) {
    const isLast = at >= names.length - 1;
    const text = isLast ? fields.slice(at).join(' ') : (fields[at] ?? '');
    locals?.set(name, { text: names.length < 2 ? line : text, isOpen: true });
  }
};

/** Returns the words after programs that only run another program. */
const withoutRunners = (words: readonly string[]): readonly string[] => {
  let rest = words;
  while (RUNNERS.test(rest[0] ?? '')) {
    const next = rest.findIndex((word, at) => at > 0 && !/^-|^\d+[smhd]?$|^\w+=/.test(word));
    if (next < 0) return rest;
    rest = rest.slice(next);
  }
  return rest;
};

const RUNNERS =
  /^(?:.*\/)?(?:command|builtin|env|exec|nohup|timeout|nice|stdbuf|setsid|time|busybox)$/;

/** Records the output in the files that it is redirected to. Returns false if it is redirected to none. */
const keepFiles = (redirects: readonly Redirection[], text: string, scope: ValueScope): boolean =>
  scope.values.keepFiles(redirects, text, (word) => textOf(word, scope).text);
