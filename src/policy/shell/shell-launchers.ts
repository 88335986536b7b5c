/** Programs that run others in a manner of their own: eval, find, xargs and their like. */
import {
  doubtful,
  type Inner,
  NOTHING,
  quoted,
  runs,
  runsSource,
  type Unwrapped,
  unclearOptions,
} from './shell-inner.js';
import { skipOptions, type WrapperOptions } from './shell-options.js';
import type { ShellPart } from './shell-part.js';
import { joinWords, plainWord, type ShellWord, UNKNOWN, unknownWord } from './shell-words.js';

const unwrapEval = (part: ShellPart): Unwrapped => {
  const words = part.words.slice(part.words[1]?.text === '--' ? 2 : 1);
  if (words.some(({ dynamic, glob }) => dynamic || glob)) {
    return doubtful(`What ${quoted(part)} runs is known only when it runs.`);
  }
  return words.length === 0 ? NOTHING : runsSource(plainWord(joinWords(words)), part, true);
};

const unwrapSource = (part: ShellPart): Unwrapped =>
  part.words[1]?.dynamic === true || /^\/(?:dev|proc)\//.test(part.words[1]?.text ?? '')
    ? doubtful(`Which script ${quoted(part)} runs is known only when it runs.`)
    : NOTHING;

const unwrapTrap = (part: ShellPart): Unwrapped => {
  const [action, ...signals] = part.words.slice(1).filter(({ text }) => text !== '--');
  if (action === undefined || signals.length === 0 || /^-/.test(action.text)) return NOTHING;
  // Nobody knows in which directory.
  return { ...runsSource(action, part), transparent: false };
};

const unwrapFind = (part: ShellPart): Unwrapped => {
  const inner: Inner[] = [];
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

const unwrapXargs = (part: ShellPart): Unwrapped => {
  const { rest, options, isClear } = skipOptions(part.words, XARGS);
  if (!isClear) return unclearOptions(part);
  if (rest.length === 0) return NOTHING;
  const mark =
    options.get('I')?.text ?? options.get('replace')?.text ?? (options.has('i') ? '{}' : undefined);
  const unwrapped = runs(
    mark === undefined ? [...rest, unknownWord(true)] : fill(rest, mark === '' ? '{}' : mark),
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

const unwrapParallel = (part: ShellPart): Unwrapped => {
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

/** `watch` and `script -c` hand their words to a shell. */
const unwrapWatch = (part: ShellPart): Unwrapped => {
  const { rest, isClear } = skipOptions(part.words, WATCH);
  if (!isClear) return unclearOptions(part);
  if (rest.length === 0) return NOTHING;
  const word = { ...plainWord(joinWords(rest)), dynamic: rest.some(({ dynamic }) => dynamic) };
  return runsSource(word, part);
};

const WATCH: WrapperOptions = {
  flags: 'bcCdegrtwx',
  values: 'nq',
  long: 'beep color differences errexit chgexit precise no-title exec'.split(' '),
  longValues: ['interval'],
};

const unwrapBusybox = (part: ShellPart): Unwrapped =>
  part.words[1]?.text.startsWith('-') === true ? NOTHING : runs(part.words.slice(1));

/** Words with a mark in them become unknown, each still one word. */
const fill = (words: readonly ShellWord[], mark: string): readonly ShellWord[] =>
  words.map((word) =>
    word.text.includes(mark)
      ? { ...word, text: word.text.replaceAll(mark, UNKNOWN), dynamic: true }
      : word,
  );

const hide = (word: ShellWord, mark: RegExp): ShellWord => ({
  ...word,
  text: word.text.replaceAll(mark, UNKNOWN),
  dynamic: true,
});

export const LAUNCHERS = new Map<string, (part: ShellPart) => Unwrapped>([
  ['eval', unwrapEval],
  ['source', unwrapSource],
  ['.', unwrapSource],
  ['trap', unwrapTrap],
  ['find', unwrapFind],
  ['xargs', unwrapXargs],
  ['parallel', unwrapParallel],
  ['watch', unwrapWatch],
  ['busybox', unwrapBusybox],
  ['toybox', unwrapBusybox],
]);
