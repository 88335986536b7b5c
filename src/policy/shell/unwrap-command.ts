/**
 * Finds the commands that a wrapper program (`env`, `sudo`, `sh -c` and others) would run.
 *
 * An unknown option of the wrapper is a doubt, because it may take the next word as its value.
 */
import { CODE_LAUNCHERS } from './code-launchers.js';
import { HARMLESS_SET_OPTION } from './harmless-builtins.js';
import { LOADERS, PROGRAM_LAUNCHERS, unwrapLoader } from './program-launchers.js';
import type { ShellStdin } from './read-redirects.js';
import { SHELL_LAUNCHERS } from './shell-launchers.js';
import { programOf, type ShellPart } from './shell-part.js';
import {
  joinWords,
  mapText,
  plainWord,
  type ShellWord,
  spellWords,
  UNKNOWN,
} from './shell-word.js';
import { skipOptions, type WrapperOptions } from './skip-options.js';
import {
  doubtfulCommand,
  NO_INNER_COMMAND,
  quotePart,
  runsSource,
  runsWords,
  type UnwrappedCommand,
  unclearOptions,
} from './unwrapped-command.js';
import { WRAPPER_OPTIONS } from './wrapper-options.js';

export const unwrapCommand = (part: ShellPart, stdin: ShellStdin | undefined): UnwrappedCommand => {
  const program = programOf(part);
  if (program === undefined)
    return doubtfulCommand(`The program that ${quotePart(part)} starts is known only at run time.`);
  if (SHELL_PROGRAMS.has(program)) return unwrapShell(part, stdin);
  if (program === 'env') return unwrapEnv(part);
  const special = SHELL_LAUNCHERS.get(program);
  if (special) return special(part, stdin);
  if (LOADERS.test(program)) return unwrapLoader(part);
  const launcher = PROGRAM_LAUNCHERS.get(program) ?? CODE_LAUNCHERS.get(program);
  if (launcher) return launcher(part);
  const options = WRAPPER_OPTIONS.get(program);
  return options === undefined ? NO_INNER_COMMAND : unwrapPlain(part, options);
};

/** Programs that run shell source. */
export const SHELL_PROGRAMS: ReadonlySet<string> = new Set(
  'sh bash dash zsh ksh mksh ash rbash'.split(' '),
);

const unwrapPlain = (part: ShellPart, wrapper: WrapperOptions): UnwrappedCommand => {
  const { rest, options, isClear } = skipOptions(part.words, wrapper);
  // The inner command starts after the options, or after the value of an unknown option.
  if (!isClear)
    return unclearOptions(
      part,
      [rest, rest.slice(1)].flatMap((words) => runsWords(words).inner),
    );
  const script = wrapper.script === undefined ? undefined : scriptOf(rest, options);
  if (script) return { ...runsSource(script, part), transparent: false };
  if (wrapper.stops?.split('').some((name) => options.has(name)) === true) return NO_INNER_COMMAND;
  const words = rest.slice(wrapper.positional ?? 0);
  const from = options.get('C') ?? options.get('chdir') ?? options.get('D');
  const assigned: { name: string; value: ShellWord }[] = [];
  let start = 0;
  if (wrapper.assigns === true) {
    for (; start < words.length; start++) {
      const [, name] = /^([^=]+)=/s.exec(words[start]?.text ?? '') ?? [];
      if (name === undefined) break;
      const word = words[start] ?? plainWord('');
      assigned.push({ name, value: mapText(word, (text) => text.slice(name.length + 1)) });
    }
  }
  const unwrapped = runsWords(words.slice(start), {
    assigned,
    sameShell: wrapper.sameShell ?? false,
    ...(from !== undefined && { from: [plainWord('cd'), from] }),
  });
  return { ...unwrapped, transparent: unwrapped.transparent && wrapper.opaque !== true };
};

/** Returns the value of `-c`, which `su bob -c x` and `flock file -c x` also take after other words. */
const scriptOf = (rest: readonly ShellWord[], options: ReadonlyMap<string, ShellWord>) => {
  const at = rest.findIndex(({ text }) => text === '-c' || text === '--command');
  return options.get('c') ?? options.get('command') ?? (at < 0 ? undefined : rest[at + 1]);
};

const unwrapShell = (part: ShellPart, stdin: ShellStdin | undefined): UnwrappedCommand => {
  const { rest, options, isClear } = skipOptions(part.words, SHELL_OPTIONS);
  if (!isClear) {
    const at = part.words.findIndex(({ text }) => /^-\w*c$/.test(text));
    return unclearOptions(part, at < 0 ? [] : runsSource(part.words[at + 1], part).inner);
  }
  const [first] = rest;
  const start = options.get('rcfile') ?? options.get('init-file');
  if (start?.dynamic === true || STDIN.test(start?.text ?? ''))
    return unclearOptions(part, [
      ...runsSource(first, part).inner,
      ...(stdin?.text === undefined ? [] : [{ kind: 'source', source: stdin.text } as const]),
    ]);
  if (options.has('c')) {
    return runsScript(first, part, options);
  }
  if (first !== undefined && !options.has('s') && !STDIN.test(first.text)) {
    return first.dynamic
      ? doubtfulCommand(`The script that ${quotePart(part)} runs is known only at run time.`)
      : NO_INNER_COMMAND;
  }
  if (first !== undefined && OTHER_DESCRIPTOR.test(first.text))
    return doubtfulCommand(`The script that ${quotePart(part)} runs is known only at run time.`);
  if (stdin !== undefined) {
    if (stdin.text === undefined) return NO_INNER_COMMAND;
    const script = { ...plainWord(stdin.text), dynamic: stdin.text.includes(UNKNOWN) };
    return runsScript(script, part, options);
  }
  if (part.pipedFrom.length === 0) return NO_INNER_COMMAND;
  const script = printedText(part.pipedFrom);
  return script === undefined
    ? doubtfulCommand(`${quotePart(part)} runs the output of the commands before it.`)
    : runsScript(plainWord(script), part, options);
};

/**
 * Unwraps shell source, unless an option changes the meaning of its words: with `-k` every `name=value` is an
 * assignment, with `-H` a `!` is expanded, and posix mode has aliases.
 */
const runsScript = (
  script: ShellWord | undefined,
  part: ShellPart,
  options: ReadonlyMap<string, ShellWord>,
): UnwrappedCommand => {
  const unwrapped = runsSource(script, part);
  const isPlain =
    [...options.keys()].every((name) => PLAIN_OPTION.test(name)) &&
    part.words.every(({ text }, index) =>
      /^[-+][a-z]*o$/.test(part.words[index - 1]?.text ?? '')
        ? HARMLESS_SET_OPTION.test(text)
        : !/^\+/.test(text),
    );
  if (!isPlain) return { ...unclearOptions(part), inner: unwrapped.inner };
  // These options run a start file before the script.
  const isAlone = !['i', 'l', 'login', 'rcfile', 'init-file'].some((name) => options.has(name));
  return { ...unwrapped, transparent: unwrapped.transparent && isAlone };
};

const PLAIN_OPTION = /^(?:[ceufxvnsoil]|norc|noprofile|verbose|login|rcfile|init-file)$/;

/** Returns the output of a single echo or printf, so that a shell after it in the pipeline can be analysed. */
const printedText = (parts: readonly ShellPart[]): string | undefined => {
  const [single, ...others] = parts;
  if (single === undefined || others.length > 0 || single.redirects.length > 0) return undefined;
  const words = single.words.slice(1);
  if (words.some(({ dynamic, glob }) => dynamic || glob)) return undefined;
  const text = joinWords(words);
  if (programOf(single) === 'echo') return /\\|^-/.test(text) ? undefined : text;
  return programOf(single) === 'printf' && words.length === 1 && !/[\\%]/.test(text)
    ? text
    : undefined;
};

const OTHER_DESCRIPTOR = /\/fd\/0*[1-9]/;
const STDIN = /^(?:-|\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/self\/fd\/\d+)$/;

const SHELL_OPTIONS: WrapperOptions = {
  flags: 'cilrsvexuanfmhkptBCEHPTD',
  values: 'oO',
  plus: true,
  long: 'login norc noprofile posix verbose restricted noediting debugger'.split(' '),
  longValues: ['rcfile', 'init-file'],
};

const unwrapEnv = (part: ShellPart): UnwrappedCommand => {
  const env = WRAPPER_OPTIONS.get('env');
  if (env === undefined) return NO_INNER_COMMAND;
  const words = part.words.filter(({ text }) => text !== '-');
  const at = words.findIndex(({ text }) => /^(?:-[iv0]*S|--split-string)/.test(text));
  if (at < 0) return unwrapPlain({ ...part, words }, env);
  const [, attached = ''] =
    /^(?:-[iv0]*S|--split-string=?)(.*)$/s.exec(words[at]?.text ?? '') ?? [];
  const split =
    attached === '' ? words[at + 1] : { ...(words[at] ?? plainWord('')), text: attached };
  const rest = words.slice(attached === '' ? at + 2 : at + 1);
  // `env -S` has other quoting rules than the shell.
  if (split === undefined || split.dynamic) return unclearOptions(part);
  const inner = [{ kind: 'source', source: `env ${split.text} ${spellWords(rest)}` }] as const;
  const spaced = [{ ...inner[0], source: inner[0].source.replaceAll('\\_', ' ') }];
  return /[\\'"$#]/.test(split.text) ? unclearOptions(part, spaced) : { inner, transparent: true };
};
