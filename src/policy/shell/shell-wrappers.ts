/**
 * Programs that run other programs: what they run is a part of the command line like any other.
 *
 * An option that is not known here might take a word with it, so that nobody could tell where the
 * inner command begins: that is a doubt.
 */

import { PLAIN_SETTING } from './shell-builtins.js';
import {
  doubtful,
  NOTHING,
  quoted,
  runs,
  runsSource,
  type Unwrapped,
  unclearOptions,
} from './shell-inner.js';
import { LAUNCHERS } from './shell-launchers.js';
import { skipOptions, type WrapperOptions } from './shell-options.js';
import { programOf, type ShellPart } from './shell-part.js';
import type { Stdin } from './shell-redirects.js';
import { joinWords, plainWord, type ShellWord, spellWords, UNKNOWN } from './shell-words.js';
import { WRAPPERS } from './shell-wrapper-options.js';

export const unwrap = (part: ShellPart, stdin: Stdin | undefined): Unwrapped => {
  const program = programOf(part);
  if (program === undefined)
    return doubtful(`Which program ${quoted(part)} starts is known only when it runs.`);
  if (SHELLS.has(program)) return unwrapShell(part, stdin);
  if (program === 'env') return unwrapEnv(part);
  const special = LAUNCHERS.get(program);
  if (special) return special(part);
  const options = WRAPPERS.get(program);
  return options === undefined ? NOTHING : unwrapPlain(part, options);
};

/** Programs that read a script in the language of the shell. */
export const SHELLS: ReadonlySet<string> = new Set(
  'sh bash dash zsh ksh mksh ash rbash'.split(' '),
);

const unwrapPlain = (part: ShellPart, known: WrapperOptions): Unwrapped => {
  const { rest, options, isClear } = skipOptions(part.words, known);
  if (!isClear) return unclearOptions(part);
  const script = known.script === undefined ? undefined : scriptOf(rest, options);
  if (script) return { ...runsSource(script, part), transparent: false };
  if (known.stops?.split('').some((name) => options.has(name)) === true) return NOTHING;
  const words = rest.slice(known.positional ?? 0);
  const from = options.get('C') ?? options.get('chdir') ?? options.get('D');
  const assigned: { name: string; value: ShellWord }[] = [];
  let start = 0;
  if (known.assigns === true) {
    for (; start < words.length; start++) {
      const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(words[start]?.text ?? '') ?? [];
      if (name === undefined) break;
      const word = words[start] ?? plainWord('');
      assigned.push({ name, value: { ...word, text: value } });
    }
  }
  const unwrapped = runs(words.slice(start), {
    assigned,
    sameShell: known.sameShell ?? false,
    ...(from !== undefined && { from: [plainWord('cd'), from] }),
  });
  return { ...unwrapped, transparent: unwrapped.transparent && known.opaque !== true };
};

/** `su bob -c x` and `flock file -c x` take their option after a word, too. */
const scriptOf = (rest: readonly ShellWord[], options: ReadonlyMap<string, ShellWord>) => {
  const at = rest.findIndex(({ text }) => text === '-c' || text === '--command');
  return options.get('c') ?? options.get('command') ?? (at < 0 ? undefined : rest[at + 1]);
};

const unwrapShell = (part: ShellPart, stdin: Stdin | undefined): Unwrapped => {
  const { rest, options, isClear } = skipOptions(part.words, SHELL_OPTIONS);
  if (!isClear) return unclearOptions(part);
  const [first] = rest;
  if (options.has('c')) {
    return runsScript(first, part, options);
  }
  if (first !== undefined && !options.has('s') && !STDIN.test(first.text)) {
    return first.dynamic
      ? doubtful(`Which script ${quoted(part)} runs is known only when it runs.`)
      : NOTHING;
  }
  if (stdin !== undefined) {
    if (stdin.text === undefined) return NOTHING;
    const script = { ...plainWord(stdin.text), dynamic: stdin.text.includes(UNKNOWN) };
    return runsScript(script, part, options);
  }
  if (part.fedBy.length === 0) return NOTHING;
  const said = spoken(part.fedBy);
  return said === undefined
    ? doubtful(`${quoted(part)} runs whatever the commands before it print.`)
    : runsScript(plainWord(said), part, options);
};

/**
 * A script as the shell would take it. Some options change what its words mean: with `-k` every
 * `name=value` is an assignment, with `-H` a `!` is replaced, in posix mode there are aliases.
 */
const runsScript = (
  script: ShellWord | undefined,
  part: ShellPart,
  options: ReadonlyMap<string, ShellWord>,
): Unwrapped => {
  const unwrapped = runsSource(script, part);
  const isPlain =
    [...options.keys()].every((name) => PLAIN_OPTION.test(name)) &&
    part.words.every(({ text }, index) =>
      /^[-+][a-z]*o$/.test(part.words[index - 1]?.text ?? '')
        ? PLAIN_SETTING.test(text)
        : !/^\+/.test(text),
    );
  if (!isPlain) return { ...unclearOptions(part), inner: unwrapped.inner };
  // These run a file of somebody's before the script.
  const isAlone = !['i', 'l', 'login', 'rcfile', 'init-file'].some((name) => options.has(name));
  return { ...unwrapped, transparent: unwrapped.transparent && isAlone };
};

const PLAIN_OPTION = /^(?:[ceufxvnsoil]|norc|noprofile|verbose|login|rcfile|init-file)$/;

/** What a lone echo or printf prints, so that a shell behind it can be looked into. */
const spoken = (fedBy: readonly ShellPart[]): string | undefined => {
  const [only, ...others] = fedBy;
  if (only === undefined || others.length > 0 || only.redirects.length > 0) return undefined;
  const words = only.words.slice(1);
  if (words.some(({ dynamic, glob }) => dynamic || glob)) return undefined;
  const text = joinWords(words);
  if (programOf(only) === 'echo') return /\\|^-/.test(text) ? undefined : text;
  return programOf(only) === 'printf' && words.length === 1 && !/[\\%]/.test(text)
    ? text
    : undefined;
};

const STDIN = /^(?:-|\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/self\/fd\/\d+)$/;

const SHELL_OPTIONS: WrapperOptions = {
  flags: 'cilrsvexuanfmhkptBCEHPTD',
  values: 'oO',
  plus: true,
  long: 'login norc noprofile posix verbose restricted noediting debugger'.split(' '),
  longValues: ['rcfile', 'init-file'],
};

const unwrapEnv = (part: ShellPart): Unwrapped => {
  const env = WRAPPERS.get('env');
  if (env === undefined) return NOTHING;
  const words = part.words.filter(({ text }) => text !== '-');
  const at = words.findIndex(({ text }) => /^(?:-[iv0]*S|--split-string)/.test(text));
  if (at < 0) return unwrapPlain({ ...part, words }, env);
  const [, attached = ''] =
    /^(?:-[iv0]*S|--split-string=?)(.*)$/s.exec(words[at]?.text ?? '') ?? [];
  const split =
    attached === '' ? words[at + 1] : { ...(words[at] ?? plainWord('')), text: attached };
  const rest = words.slice(attached === '' ? at + 2 : at + 1);
  // Its rules of quoting are not those of the shell.
  if (split === undefined || split.dynamic || /[\\'"$#]/.test(split.text))
    return unclearOptions(part);
  return {
    inner: [{ kind: 'source', source: `env ${split.text} ${spellWords(rest)}` }],
    transparent: true,
  };
};
