/** Finds commands in the scripts and options of filters: awk, sed, split, sort, tar, rg and others. */
import { optionValue } from './program-launchers.js';
import { argumentsOf, hasOption, programOf, type ShellPart } from './shell-part.js';
import {
  type InnerCommand,
  NO_INNER_COMMAND,
  quotePart,
  runsSource,
  type UnwrappedCommand,
} from './unwrapped-command.js';

const sourceOf = (source: string): InnerCommand => ({ kind: 'source', source });

const runs = (
  part: ShellPart,
  inner: readonly InnerCommand[],
  isUnknown: boolean,
): UnwrappedCommand => ({
  inner,
  transparent: false,
  ...(isUnknown && {
    doubt: `A command that ${quotePart(part)} runs is known only at run time.`,
  }),
});

/** Texts in quotes and patterns are not code. A pattern stands where a value may begin. */
const AWK_LITERAL =
  /"((?:[^"\\]|\\.)*)"|(?<=^|[\s({,;!~&|])\/(?:[^/\\\n[]|\\.|\[\^?\]?[^\]\n]*\])*\/|#[^\n]*/gs;

/** A shell may run what the script prints. */
const SHELL = /(?:^|[\s/;|&])(?:ba|da|z|k|mk|a)?sh(?:\s|$)/;

/** `system("x")`, `print | "x"` and `"x" | getline` run the text as source. */
const unwrapAwk = (part: ShellPart): UnwrappedCommand => {
  const inner: InnerCommand[] = [];
  let isUnknown = false;
  for (const { text } of argumentsOf(part)) {
    const texts: string[] = [];
    const code = text.replaceAll(AWK_LITERAL, (_, quoted?: string) =>
      quoted === undefined ? ' ' : `\u0001${texts.push(quoted) - 1}\u0001`,
    );
    const literal = '\u0001(\\d+)\u0001';
    const known = [
      `\\bsystem\\s*\\(\\s*${literal}\\s*\\)`,
      `(?<!\\|)\\|&?\\s*${literal}(?!\\s*[\\w$\u0001(])`,
      `${literal}\\s*\\|&?\\s*getline`,
    ];
    let rest = code;
    for (const pattern of known) {
      rest = rest.replaceAll(new RegExp(pattern, 'g'), (_, index: string) => {
        const source = (texts[Number(index)] ?? '').replaceAll(/\\(.)/gs, '$1');
        inner.push(sourceOf(source));
        isUnknown ||= SHELL.test(source);
        return ' ';
      });
    }
    isUnknown ||= /\bsystem\s*\(|(?<!\|)\|(?!\|)/.test(rest) && /[{(]/.test(rest);
  }
  return runs(part, inner, isUnknown);
};

const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|\/(?:[^/\\]|\\.)*\/[IM]*)`;
const START = String.raw`(?:^|[;{}\n])\s*(?:${ADDRESS}(?:\s*,\s*(?:[+~]?\d+|${ADDRESS}))?)?\s*!?\s*`;
const SED_RUNS = new RegExp(String.raw`${START}e(?:[ \t]+([^\n]*)|(?=\s*(?:$|[;}\n])))`, 'g');
const SED_CHANGES = new RegExp(
  String.raw`${START}s([^\w\s\\])(?:\\.|(?!\1)[^\\])*\1((?:\\.|(?!\1)[^\\])*)\1[gpiIMm\d]*e`,
  'gs',
);

/** The command `e` and the flag `e` of `s` run source: of the script, or of the line. */
const unwrapSed = (part: ShellPart): UnwrappedCommand => {
  if (hasOption(part, '', 'sandbox')) return NO_INNER_COMMAND;
  const scripts = argumentsOf(part).map(({ text }) => text.replace(/^(?:-\w*e|--expression=)/, ''));
  const found = scripts.flatMap((script) => [
    ...[...script.matchAll(SED_RUNS)].map(([, source]) => source),
    ...[...script.matchAll(SED_CHANGES)].map(() => undefined),
  ]);
  const sources = found.flatMap((source) => source ?? []);
  return runs(part, sources.map(sourceOf), found.includes(undefined));
};

const option =
  (separate: RegExp, attached: RegExp) =>
  (part: ShellPart): UnwrappedCommand => {
    const value = optionValue(argumentsOf(part), separate, attached);
    return value === undefined || COMPRESSORS.test(value.text)
      ? NO_INNER_COMMAND
      : { ...runsSource(value, part), transparent: false };
  };

const COMPRESSORS =
  /^(?:gzip|pigz|bzip2|pbzip2|lbzip2|xz|pixz|zstd|zstdmt|lz4|lzip|plzip|lzma|brotli|gunzip|unxz|unzstd)(?: -[\w=-]+)*$/;

const NEVER = /^(?!)/;

/** An alternative of options of tar, each with the commands that it runs. */
const unwrapTar = (part: ShellPart): UnwrappedCommand => {
  const all = TAR.map((unwrap) => unwrap(part));
  return runs(
    part,
    all.flatMap(({ inner }) => inner),
    all.some(({ doubt }) => doubt !== undefined),
  );
};

const TAR = [
  option(/^(?:-\w*I|--use-comp\w*(?:-\w+)*)$/, /^--use-comp[\w-]*=|^-I(?=.)/),
  option(/^--to-c[\w-]*$/, /^--to-c[\w-]*=/),
  option(NEVER, /^--checkpoint-a[\w-]*=exec=/),
  option(/^(?:-\w*F|--info-s[\w-]*|--new-v[\w-]*)$/, /^--(?:info-s|new-v)[\w-]*=/),
  option(/^--(?:rsh-c|rmt-c)[\w-]*$/, /^--(?:rsh-c|rmt-c)[\w-]*=/),
];

export const CODE_LAUNCHERS: ReadonlyMap<string, (part: ShellPart) => UnwrappedCommand> = new Map<
  string,
  (part: ShellPart) => UnwrappedCommand
>([
  ...['awk', 'gawk', 'mawk', 'nawk'].map((name) => [name, unwrapAwk] as const),
  ...['sed', 'gsed'].map((name) => [name, unwrapSed] as const),
  ...['tar', 'gtar', 'bsdtar'].map((name) => [name, unwrapTar] as const),
  ['split', option(/^--filter$/, /^--filter=/)],
  ['sort', option(/^--compress-p[\w-]*$/, /^--compress-p[\w-]*=/)],
  ['rg', option(/^--pre$/, /^--pre=/)],
  ['man', option(/^(?:-\w*P|--pager)$/, /^(?:--pager=|-P(?=.))/)],
  ['zip', option(/^(?:-TT|--unzip-command)$/, /^(?:-TT(?=.)|--unzip-command=)/)],
]);

const INTERPRETERS =
  /^(?:python[\d.]*|perl|ruby|node|nodejs|bun|deno|php|lua|tclsh|[gmn]?awk|g?sed)$/;
const STARTS =
  /system|popen|exec|spawn|subprocess|check_output|\bcall\b|\brun\b|[`|]|\be\b|[\W\d]e\b/i;

/**
 * Returns texts that a program in another language may run as commands: texts in its code, and its standard input.
 * A guess.
 */
export const commandsInCode = (part: ShellPart, input = ''): readonly string[] => {
  const program = programOf(part) ?? '';
  if (program === 'make' || program === 'gmake') return recipesIn(input);
  if (!INTERPRETERS.test(program)) return [];
  const code = argumentsOf(part)
    .map(({ text }) => text)
    .filter((text) => STARTS.test(text));
  const texts = code.flatMap((text) => {
    const quoted = [...text.matchAll(/(["'`])((?:\\.|(?!\1)[^\\])*)\1/gs)].map(
      ([, , inner = '']) => inner,
    );
    const replacements = [...text.matchAll(SED_CHANGES)].map(([, , by = '']) => by);
    return [...quoted, quoted.join(' '), ...replacements];
  });
  return [
    ...texts.map((text) => text.replaceAll(/\\(.)/gs, '$1')),
    ...(code.length > 0 ? [input] : []),
  ]
    .filter((text) => /\S/.test(text))
    .slice(0, MAX_TEXTS);
};

const MAX_TEXTS = 40;

/** Returns the commands of a makefile. */
const recipesIn = (makefile: string): readonly string[] =>
  makefile
    .split('\n')
    .map((line) => line.replace(/^[^\s:#]+:[^;]*;|^\t/, '').replace(/^[@+-]+/, ''))
    .filter((line) => /\S/.test(line))
    .slice(0, MAX_TEXTS);
