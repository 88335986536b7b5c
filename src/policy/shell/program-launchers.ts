/** Unwraps programs that start another program after words or options of their own. */
import { argumentsOf, type ShellPart } from './shell-part.js';
import { joinWords, plainWord, type ShellWord } from './shell-word.js';
import { skipOptions, type WrapperOptions } from './skip-options.js';
import {
  NO_INNER_COMMAND,
  runsSource,
  runsWords,
  type UnwrappedCommand,
  unclearOptions,
} from './unwrapped-command.js';
import { SETARCH } from './wrapper-options.js';

/** `setarch [architecture] [options] program`. */
const unwrapSetarch = (part: ShellPart): UnwrappedCommand => {
  const [program, first, ...more] = part.words;
  const named = first !== undefined && !/^-/.test(first.text);
  const words = named && program !== undefined ? [program, ...more] : part.words;
  const { rest, isClear } = skipOptions(words, SETARCH);
  return isClear ? runsWords(rest) : unclearOptions(part, runsWords(rest).inner);
};

/** `sg group -c source` and `sg group source`. */
const unwrapSg = (part: ShellPart): UnwrappedCommand => {
  const words = argumentsOf(part).filter(({ text }) => text !== '-');
  const at = words.findIndex(({ text }) => text === '-c');
  const source = at < 0 ? words.slice(1) : words.slice(at + 1);
  if (source.length === 0) return NO_INNER_COMMAND;
  const word = { ...plainWord(joinWords(source)), dynamic: source.some(({ dynamic }) => dynamic) };
  return { ...runsSource(word, part), transparent: false };
};

/** `start-stop-daemon --start --exec program -- arguments`. */
const unwrapDaemon = (part: ShellPart): UnwrappedCommand => {
  const words = argumentsOf(part);
  const program = optionValue(words, /^(?:-\w*[xa]|--exec|--startas)$/, /^--(?:exec|startas)=/);
  const end = words.findIndex(({ text }) => text === '--');
  const rest = end < 0 ? [] : words.slice(end + 1);
  return program === undefined
    ? NO_INNER_COMMAND
    : { ...runsWords([program, ...rest]), transparent: false };
};

/** The loader of the system starts any program: `/lib64/ld-linux-x86-64.so.2 /bin/ls`. */
export const unwrapLoader = (part: ShellPart): UnwrappedCommand => {
  const { rest, isClear } = skipOptions(part.words, LOADER);
  return isClear ? runsWords(rest) : unclearOptions(part, runsWords(rest).inner);
};

export const LOADERS = /^ld(?:-linux[\w-]*|-musl-[\w-]+)?\.so(?:\.\d+)?$/;

const LOADER: WrapperOptions = {
  flags: '',
  values: '',
  long: ['list', 'verify', 'inhibit-cache'],
  longValues: ['library-path', 'preload', 'argv0', 'audit', 'inhibit-rpath'],
};

/** `ip netns exec name program` and `ip vrf exec name program`. */
const unwrapIp = (part: ShellPart): UnwrappedCommand => {
  const words = argumentsOf(part);
  const at = words.findIndex(({ text }) => text === 'exec');
  const isExec = /^(?:netns|vrf)$/.test(words[at - 1]?.text ?? '');
  return isExec ? { ...runsWords(words.slice(at + 2)), transparent: false } : NO_INNER_COMMAND;
};

/** Returns the value of an option: the next word, or the text after `=`. */
export const optionValue = (
  words: readonly ShellWord[],
  separate: RegExp,
  attached: RegExp,
): ShellWord | undefined => {
  const at = words.findIndex(({ text }) => separate.test(text));
  if (at >= 0) return words[at + 1];
  const word = words.find(({ text }) => attached.test(text));
  return word && { ...word, text: word.text.replace(attached, '') };
};

/** Unwrappers by name of the program. */
export const PROGRAM_LAUNCHERS: ReadonlyMap<string, (part: ShellPart) => UnwrappedCommand> =
  new Map([
    ['setarch', unwrapSetarch],
    ['sg', unwrapSg],
    ['start-stop-daemon', unwrapDaemon],
    ['ip', unwrapIp],
  ]);
