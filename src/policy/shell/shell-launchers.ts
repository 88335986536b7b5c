/** Unwraps programs that run other programs in special ways: eval, find, xargs and others. */

import type { ShellStdin } from './read-redirects.js';
import type { ShellPart } from './shell-part.js';
import { joinWords, plainWord, type ShellWord, UNKNOWN, unknownWord } from './shell-word.js';
import { skipOptions, type WrapperOptions } from './skip-options.js';
import {
  doubtfulCommand,
  type InnerCommand,
  NO_INNER_COMMAND,
  quotePart,
  runsSource,
  runsWords,
  type UnwrappedCommand,
  unclearOptions,
} from './unwrapped-command.js';

const unwrapEval = (part: ShellPart): UnwrappedCommand => {
  const words = part.words.slice(part.words[1]?.text === '--' ? 2 : 1);
  if (words.some(({ dynamic, glob }) => dynamic || glob)) {
    return doubtfulCommand(`The command that ${quotePart(part)} runs is known only at run time.`);
  }
  return words.length === 0
    ? NO_INNER_COMMAND
    : runsSource(plainWord(joinWords(words)), part, true);
};

const unwrapSource = (part: ShellPart, stdin: ShellStdin | undefined): UnwrappedCommand => {
  const file = part.words[1]?.text ?? '';
  if (file === '/dev/stdin' && stdin?.text !== undefined && !stdin.text.includes(UNKNOWN))
    return { ...runsSource(plainWord(stdin.text), part, true), transparent: false };
  return part.words[1]?.dynamic === true || /^\/(?:dev|proc)\//.test(file)
    ? doubtfulCommand(`The script that ${quotePart(part)} runs is known only at run time.`)
    : NO_INNER_COMMAND;
};

/** `fc` runs a command of the history, unless it lists them. */
const unwrapHistory = (part: ShellPart): UnwrappedCommand =>
  /^-[a-z]*l/.test(part.words[1]?.text ?? '')
    ? NO_INNER_COMMAND
    : doubtfulCommand(`The command that ${quotePart(part)} runs is known only at run time.`);

const unwrapTrap = (part: ShellPart): UnwrappedCommand => {
  const [action, ...signals] = part.words.slice(1).filter(({ text }) => text !== '--');
  if (action === undefined || signals.length === 0 || /^-/.test(action.text))
    return NO_INNER_COMMAND;
  // Not transparent, because the directory in which the trap will run is unknown.
  return { ...runsSource(action, part), transparent: false };
};

const unwrapFind = (part: ShellPart): UnwrappedCommand => {
  const inner: InnerCommand[] = [];
  const { words } = part;
  for (let at = 1; at < words.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(words[at]?.text ?? '')) continue;
    const end = words.findIndex(
      ({ text }, index) =>
        index > at && (text === ';' || (text === '+' && words[index - 1]?.text === '{}')),
    );
    const run = words.slice(at + 1, end < 0 ? undefined : end);
    if (run.length > 0) inner.push({ kind: 'words', words: fill(run, '{}') });
    at += run.length;
  }
  return { inner, transparent: false };
};

const unwrapXargs = (part: ShellPart): UnwrappedCommand => {
  const { rest, options, isClear } = skipOptions(part.words, XARGS);
  if (!isClear) return unclearOptions(part);
  if (rest.length === 0) return NO_INNER_COMMAND;
  const placeholder =
    options.get('I')?.text ?? options.get('replace')?.text ?? (options.has('i') ? '{}' : undefined);
  const unwrapped = runsWords(
    placeholder === undefined
      ? [...rest, unknownWord(true)]
      : fill(rest, placeholder === '' ? '{}' : placeholder),
  );
  const readsFile = options.has('a') || options.has('arg-file');
  return { ...unwrapped, transparent: unwrapped.transparent && !readsFile };
};

const XARGS: WrapperOptions = {
  flags: '0prtxo',
  values: 'aEILnPsd',
  optional: 'iel',
  long: 'null interactive verbose no-run-if-empty exit open-tty show-limits replace'.split(' '),
  longValues:
    'arg-file delimiter max-args max-chars max-lines max-procs process-slot-var eof'.split(' '),
};

const unwrapParallel = (part: ShellPart): UnwrappedCommand => {
  const { rest, isClear } = skipOptions(part.words, PARALLEL);
  const end = rest.findIndex(({ text }) => /^:::/.test(text));
  const words = end < 0 ? rest : rest.slice(0, end);
  if (!isClear || words.length === 0) return unclearOptions(part);
  const filled = words.some(({ text }) => text.includes('{'))
    ? words.map((word) => (word.text.includes('{') ? hide(word, /\{[^}]*\}/g) : word))
    : [...words, unknownWord(true)];
  return { inner: [{ kind: 'words', words: filled }], transparent: false };
};

const PARALLEL: WrapperOptions = {
  flags: 'kuvtqX0m',
  values: 'jNnLPad',
  long: 'keep-order ungroup bar progress null line-buffer'.split(' '),
  longValues: ['jobs', 'delay', 'timeout', 'retries', 'halt', 'arg-file'],
};

/** `watch` passes its words to a shell. */
const unwrapWatch = (part: ShellPart): UnwrappedCommand => {
  const { rest, isClear } = skipOptions(part.words, WATCH);
  if (!isClear) return unclearOptions(part);
  if (rest.length === 0) return NO_INNER_COMMAND;
  const word = { ...plainWord(joinWords(rest)), dynamic: rest.some(({ dynamic }) => dynamic) };
  return runsSource(word, part);
};

const WATCH: WrapperOptions = {
  flags: 'bcCdegrtwx',
  values: 'nq',
  long: 'beep color differences errexit chgexit precise no-title exec'.split(' '),
  longValues: ['interval'],
};

const unwrapBusybox = (part: ShellPart): UnwrappedCommand =>
  part.words[1]?.text.startsWith('-') === true ? NO_INNER_COMMAND : runsWords(part.words.slice(1));

/** Replaces the placeholder in each word by an unknown text. The number of words stays the same. */
const fill = (words: readonly ShellWord[], placeholder: string): readonly ShellWord[] =>
  words.map((word) =>
    word.text.includes(placeholder)
      ? { ...word, text: word.text.replaceAll(placeholder, UNKNOWN), dynamic: true }
      : word,
  );

const hide = (word: ShellWord, placeholder: RegExp): ShellWord => ({
  ...word,
  text: word.text.replaceAll(placeholder, UNKNOWN),
  dynamic: true,
});

/** Unwrappers by name of the program. */
type Launcher = (part: ShellPart, stdin: ShellStdin | undefined) => UnwrappedCommand;

export const SHELL_LAUNCHERS = new Map<string, Launcher>([
  ['eval', unwrapEval],
  ['source', unwrapSource],
  ['.', unwrapSource],
  ['fc', unwrapHistory],
  ['trap', unwrapTrap],
  ['find', unwrapFind],
  ['xargs', unwrapXargs],
  ['parallel', unwrapParallel],
  ['watch', unwrapWatch],
  ['busybox', unwrapBusybox],
  ['toybox', unwrapBusybox],
]);
