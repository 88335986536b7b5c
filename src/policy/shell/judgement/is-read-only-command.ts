/**
 * Proves that a command line only reads.
 *
 * Every program must be in a table, with options that are known to do no harm.
 *
 * Git runs programs that the settings of a repository name: pagers, diff drivers, file monitors. A clone does
 * not bring such settings, tools may not write them without a person, and without a terminal there is no
 * pager, so some git commands count as reading. But a folder of a clone can pretend to be a bare repository
 * with settings of its own. Therefore git counts only at a root of the workspace, and never with an option
 * that selects a repository, a setting or a program.
 */
import { HARMLESS_BUILTINS } from '../harmless-builtins.js';
import {
  argumentsOf,
  hasOption,
  isNoOption,
  mayHaveOption,
  operandsOf,
  programOf,
  type ShellEnvironment,
  type ShellPart,
  type ShellReading,
} from '../shell-part.js';
import type { ShellWord } from '../shell-word.js';
import { setsOnlyHarmlessVariables } from './dangerous-variable.js';
import { isHarmlessScript } from './is-harmless-script.js';
import { isReadOnlyGit } from './is-read-only-git.js';

/**
 * True if the command line only reads, from any path. A `cd` counts as reading, because it changes only the
 * agent's own directory.
 */
export const isReadOnlyCommand = (reading: ShellReading, environment: ShellEnvironment): boolean =>
  reading.doubts.length === 0 &&
  !reading.isBomb &&
  reading.parts.length > 0 &&
  reading.parts.every(
    (part) => isReadOnlyPart(part, environment) && part.redirects.every(isHarmlessRedirect),
  );

export const isReadOnlyPart = (part: ShellPart, environment: ShellEnvironment): boolean => {
  if (!setsOnlyHarmlessVariables(part) && part.words.length > 0) return false;
  if (part.transparent) return true;
  return kindOf(part)?.proves(part, environment) === true;
};

/** True if the redirection reads, or writes to a sink such as /dev/null. */
const isHarmlessRedirect = ({ target, writes }: ShellPart['redirects'][number]) =>
  !writes || (!target.dynamic && isSink(target.text));

export const isSink = (path: string): boolean =>
  /^\/dev\/(?:null|stdin|stdout|stderr|tty|fd\/\d+)$/.test(path);

/** Returns the words that name the files it reads. Returns undefined if it may read other files too. */
export const wordsRead = (part: ShellPart): readonly ShellWord[] | undefined => {
  const kind = kindOf(part);
  const words = part.transparent ? [] : (kind?.paths?.(part) ?? pathWords(part));
  if (!part.transparent && (kind === undefined || kind.isWide?.(part) === true)) return undefined;
  const isOpen = ({ glob, text }: ShellWord) =>
    // `.e*` may match any hidden file.
    glob && (kind?.showsContents === true || /(?:^|\/)\.[^/]*[*?[]/.test(text));
  return words.some((word) => word.dynamic || isOpen(word)) ? undefined : words;
};

/** Returns operands and values attached to options, as in `--file=/etc/passwd` and `-f/etc/passwd`. */
const pathWords = (part: ShellPart): readonly ShellWord[] =>
  argumentsOf(part).flatMap((word) => {
    const { text } = word;
    if (!text.startsWith('-')) return [word, ...afterColon(word)];
    const at = text.search(/[=]|\/|~|\.\./);
    return at < 0
      ? word.dynamic
        ? [word]
        : []
      : [{ ...word, text: text.slice(text[at] === '=' ? at + 1 : at) }];
  });

/** Returns the file of `HEAD:src/a.ts`. */
const afterColon = (word: ShellWord): readonly ShellWord[] => {
  const at = word.text.indexOf(':');
  return at < 0 ? [] : [{ ...word, text: word.text.slice(at + 1) }];
};

/** How a program of the table reads. */
interface ProgramKind {
  /** True if the part only reads. */
  readonly proves: (part: ShellPart, environment: ShellEnvironment) => boolean;
  /** True if it prints the contents of files, so that a pattern may print too many. Default: false. */
  readonly showsContents?: boolean;
  /** True if the part may read files that it does not name. Default: never. */
  readonly isWide?: (part: ShellPart) => boolean;
  /** Returns the words that are paths. Default: all words that may be paths. */
  readonly paths?: (part: ShellPart) => readonly ShellWord[];
}

const kindOf = (part: ShellPart): ProgramKind | undefined => {
  if (part.words.length === 0) return PRINTS;
  const first = part.words[0]?.text ?? '';
  const program = programOf(part);
  // `./ls` is a program of the workspace, not of the system.
  if (
    program === undefined ||
    !(first === program || /^(?:\/usr)?(?:\/local)?\/s?bin\/[^/]+$/.test(first))
  )
    return undefined;
  return KINDS.get(program);
};

const always = () => true;
const noPaths = () => [];
const isStatic = (part: ShellPart) => part.words.every(({ dynamic }) => !dynamic);
const isFixed = (part: ShellPart) => isStatic(part) && part.words.every(isNoOption);
/** False if a pattern may expand to a file name that becomes the script. */
const hasNoPattern = (part: ShellPart) => part.words.every(({ glob }) => !glob);

const PRINTS: ProgramKind = { proves: always, paths: noPaths };
const LISTS: ProgramKind = { proves: isStatic };
const SHOWS: ProgramKind = { proves: isStatic, showsContents: true };

const without = (kind: ProgramKind, letters: string, ...names: readonly string[]): ProgramKind => ({
  ...kind,
  proves: (part, environment) =>
    kind.proves(part, environment) && isFixed(part) && !mayHaveOption(part, letters, ...names),
});

/** Returns the paths of a program whose first operand is a pattern or script, unless an option has it. */
const afterScript =
  (letters: string, ...names: readonly string[]) =>
  (part: ShellPart): readonly ShellWord[] => {
    if (hasOption(part, letters, ...names)) return pathWords(part);
    const script = operandsOf(part)[0];
    return pathWords(part).filter((word) => word !== script && !isPartOf(word, script));
  };

const isPartOf = (word: ShellWord, script: ShellWord | undefined) =>
  script?.text.endsWith(`:${word.text}`) === true;

const isRecursive = (part: ShellPart) =>
  hasOption(part, 'rRd', 'recursive', 'dereference-recursive', 'directories');

const GREP: ProgramKind = {
  ...SHOWS,
  isWide: (part) => isRecursive(part) || operandsOf(part)[0]?.glob === true,
  paths: afterScript('ef', 'regexp', 'file'),
};

const RIPGREP: ProgramKind = {
  ...without(SHOWS, 'z', 'pre', 'pre-glob', 'search-zip', 'hostname-bin'),
  isWide: (part) =>
    operandsOf(part)[0]?.glob === true ||
    hasOption(part, 'u.L', 'unrestricted', 'hidden', 'follow') ||
    argumentsOf(part).some(({ text }) => /^--(?:no-ignore|ignore-file|glob|iglob)|^-g/.test(text)),
  paths: afterScript('ef', 'regexp', 'file', 'files'),
};

const FIND: ProgramKind = {
  proves: (part) =>
    isStatic(part) &&
    // No action of find ends like a file name, so the pattern in `-name *.ts` cannot become an action.
    part.words.every((word) => isNoOption(word) || /\.\w+$/.test(word.text)) &&
    !argumentsOf(part).some(({ text }) =>
      /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/.test(text),
    ),
};

const SED: ProgramKind = {
  ...SHOWS,
  proves: (part) => isStatic(part) && hasNoPattern(part) && isHarmlessScript(part),
  paths: (part) => operandsOf(part).slice(hasOption(part, 'e', 'expression') ? 0 : 1),
};

const AWK: ProgramKind = {
  ...SHOWS,
  proves: (part) => isStatic(part) && hasNoPattern(part) && isHarmlessScript(part),
  paths: (part) => operandsOf(part).filter((_, index) => index > 0),
};

const JQ: ProgramKind = {
  ...SHOWS,
  proves: (part) =>
    isStatic(part) &&
    hasNoPattern(part) &&
    !mayHaveOption(part, 'fL', 'from-file') &&
    // Any operand may be the script, depending on the options before it.
    !argumentsOf(part).some(({ text }) => /\b(?:import|include|env|ENV)\b/.test(text)),
  paths: afterScript('', 'args'),
};

const isFolderDiff = (part: ShellPart) =>
  mayHaveOption(part, 'rNP', 'recursive', 'new-file', 'unidirectional-new-file') ||
  operandsOf(part).some(({ text }) => /(?:^|\/)\.{0,2}$/.test(text));
/** Options with which git also shows untracked or ignored files, which may be secrets. */
const UNTRACKED_OPTION = /^--(?:no-in|no-exc|untr)/;

const named = (names: string, kind: ProgramKind) =>
  names.split(' ').map((name) => [name, kind] as const);

/** Kinds by name of the program. */
const KINDS: ReadonlyMap<string, ProgramKind> = new Map<string, ProgramKind>([
  ...named('echo true false : pwd seq sleep exit return break continue', PRINTS),
  ['wait', { ...PRINTS, proves: (part) => isFixed(part) && !mayHaveOption(part, 'p') }],
  ...named('whoami id groups uname nproc arch uptime tty locale', PRINTS),
  ...[...HARMLESS_BUILTINS].map(([name, proves]) => [name, { ...PRINTS, proves }] as const),
  ...named('which type whereis basename dirname', PRINTS),
  ...named(
    'ls dir stat du df realpath readlink wc cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum',
    LISTS,
  ),
  ...named(
    'cat head tail nl tac rev fold fmt od hexdump strings cut paste expand unexpand cmp comm join column',
    SHOWS,
  ),
  ...named('base64 base32', without(SHOWS, 'o', 'output')),
  ...named('tr', { ...SHOWS, paths: noPaths }),
  [
    'diff',
    // With two folders it prints all their files.
    { ...SHOWS, isWide: (part) => isFolderDiff(part) },
  ],
  ...named('grep egrep fgrep', GREP),
  ['rg', RIPGREP],
  ['find', FIND],
  ['sed', SED],
  ...named('awk gawk mawk', AWK),
  ['jq', JQ],
  // `tree -R` writes a page into each folder.
  ['tree', without(LISTS, 'oR', 'output')],
  ['file', without(LISTS, 'CzZf', 'compile', 'uncompress-noreport', 'files-from')],
  [
    'sort',
    without(SHOWS, 'oT', 'output', 'temporary-directory', 'compress-program', 'files0-from'),
  ],
  ['uniq', { ...SHOWS, proves: (part) => isFixed(part) && operandsOf(part).length < 2 }],
  [
    'date',
    {
      ...PRINTS,
      proves: (part) =>
        isFixed(part) &&
        !mayHaveOption(part, 'sfr', 'set', 'file', 'reference') &&
        operandsOf(part).every(
          ({ text }) => /^\+|^[\w ,:+-]+$/.test(text) && !/^\d{8,}/.test(text),
        ),
    },
  ],
  ['hostname', { ...PRINTS, proves: (part) => part.words.length === 1 }],
  ['command', { ...PRINTS, proves: (part) => /^-[vV]$/.test(part.words[1]?.text ?? '') }],
  ...named('cd pushd', {
    proves: (part) => isStatic(part) && !part.words.some(({ glob }) => glob),
    paths: cdOperands,
  }),
  [
    'git',
    {
      ...SHOWS,
      proves: isReadOnlyGit,
      isWide: (part) => argumentsOf(part).some(({ text }) => UNTRACKED_OPTION.test(text)),
    },
  ],
  ...named('node python python3 ruby rustc cargo java gcc make cmake', {
    ...PRINTS,
    proves: (part) =>
      part.words.length === 2 &&
      /^(?:--version|-v|-V)$/.test(part.words[1]?.text ?? '') &&
      !(part.words[0]?.text === 'python' && part.words[1]?.text === '-v'),
  }),
]);

function cdOperands(part: ShellPart): readonly ShellWord[] {
  const operands = argumentsOf(part).filter(
    ({ text }) => text === '-' || !/^-[LPe@n-]+$/.test(text),
  );
  // `cd` alone goes home, and `cd -` to the previous directory: both are unknown here.
  return operands.length === 1 && operands[0]?.text !== '-'
    ? operands
    : [{ text: '/', dynamic: true, splits: false, glob: false }];
}
