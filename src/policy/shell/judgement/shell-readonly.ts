/**
 * The proof that a command only reads: every program in it is in a table, with options that are known
 * to do no harm. What is not in the table is not proven.
 *
 * Git runs what the settings of a repository name: pagers, diff drivers, file monitors. A clone does not
 * bring such settings, tools may not write them without a person, and without a terminal there is
 * no pager; so a few commands of git count as reading. But a folder of a clone can pretend to be a
 * bare repository with settings of its own: therefore only at a root of the workspace, and never with
 * an option that chooses a repository, a setting or a program.
 */

import { printsOnly, setsPlainly, testsNoVariable } from '../shell-builtins.js';
import {
  argumentsOf,
  hasOption,
  isNoOption,
  mayHaveOption,
  operandsOf,
  programOf,
  type ShellPart,
  type ShellReading,
  type ShellWorld,
} from '../shell-part.js';
import type { ShellWord } from '../shell-words.js';
import { isHarmlessAwk, isHarmlessSed } from './sed-awk-scripts.js';
import { readsWithGit } from './shell-readonly-git.js';
import { setsOnlyHarmless } from './shell-variables.js';

/** Says nothing about where it reads, and takes a `cd` for reading: it moves only the agent. */
export const isReadOnly = (reading: ShellReading, world: ShellWorld): boolean =>
  reading.doubts.length === 0 &&
  !reading.isBomb &&
  reading.parts.length > 0 &&
  reading.parts.every(
    (part) => isReadOnlyPart(part, world) && part.redirects.every(isHarmlessRedirect),
  );

export const isReadOnlyPart = (part: ShellPart, world: ShellWorld): boolean => {
  if (!setsOnlyHarmless(part) && part.words.length > 0) return false;
  if (part.transparent) return true;
  return kindOf(part)?.proves(part, world) === true;
};

/** Writing to nowhere is not writing. */
const isHarmlessRedirect = ({ target, writes }: ShellPart['redirects'][number]) =>
  !writes || (!target.dynamic && isSink(target.text));

export const isSink = (path: string): boolean =>
  /^\/dev\/(?:null|stdin|stdout|stderr|tty|fd\/\d+)$/.test(path);

/** The words that name what it reads; undefined when it reads more than its words tell. */
export const readsFrom = (part: ShellPart): readonly ShellWord[] | undefined => {
  const kind = kindOf(part);
  const words = part.transparent ? [] : (kind?.paths?.(part) ?? pathWords(part));
  if (!part.transparent && (kind === undefined || kind.isWide?.(part) === true)) return undefined;
  const isOpen = ({ glob, text }: ShellWord) =>
    // `.e*` may be any hidden file.
    glob && (kind?.showsContents === true || /(?:^|\/)\.[^/]*[*?[]/.test(text));
  return words.some((word) => word.dynamic || isOpen(word)) ? undefined : words;
};

/** Operands, and what is attached to an option: `--file=/etc/passwd`, `-f/etc/passwd`. */
const pathWords = (part: ShellPart): readonly ShellWord[] =>
  argumentsOf(part).flatMap((word) => {
    const { text } = word;
    if (!text.startsWith('-')) return [word, ...afterMark(word, ':')];
    const at = text.search(/[=]|\/|~|\.\./);
    return at < 0
      ? word.dynamic
        ? [word]
        : []
      : [{ ...word, text: text.slice(text[at] === '=' ? at + 1 : at) }];
  });

/** `HEAD:src/a.ts` names a file as well. */
const afterMark = (word: ShellWord, mark: string): readonly ShellWord[] => {
  const at = word.text.indexOf(mark);
  return at < 0 ? [] : [{ ...word, text: word.text.slice(at + 1) }];
};

interface Kind {
  readonly proves: (part: ShellPart, world: ShellWorld) => boolean;
  /** What it prints comes out of the files that it names, so a pattern might show too much. */
  readonly showsContents?: boolean;
  /** It reads more than it names. */
  readonly isWide?: (part: ShellPart) => boolean;
  /** The words that are paths, where not all of them are. */
  readonly paths?: (part: ShellPart) => readonly ShellWord[];
}

const kindOf = (part: ShellPart): Kind | undefined => {
  if (part.words.length === 0) return SPEAKS;
  const first = part.words[0]?.text ?? '';
  const program = programOf(part);
  // `./ls` is a program of the workspace.
  if (
    program === undefined ||
    !(first === program || /^(?:\/usr)?(?:\/local)?\/s?bin\/[^/]+$/.test(first))
  )
    return undefined;
  return KINDS.get(program);
};

const yes = () => true;
const nothing = () => [];
const isStatic = (part: ShellPart) => part.words.every(({ dynamic }) => !dynamic);
const isFixed = (part: ShellPart) => isStatic(part) && part.words.every(isNoOption);
/** The names of files may not become the script. */
const hasNoPattern = (part: ShellPart) => part.words.every(({ glob }) => !glob);

const SPEAKS: Kind = { proves: yes, paths: nothing };
const LISTS: Kind = { proves: isStatic };
const SHOWS: Kind = { proves: isStatic, showsContents: true };

const without = (kind: Kind, letters: string, ...names: readonly string[]): Kind => ({
  ...kind,
  proves: (part, world) =>
    kind.proves(part, world) && isFixed(part) && !mayHaveOption(part, letters, ...names),
});

/** The first operand is a pattern or a script, unless an option brings it. */
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

const GREP: Kind = {
  ...SHOWS,
  isWide: (part) => isRecursive(part) || operandsOf(part)[0]?.glob === true,
  paths: afterScript('ef', 'regexp', 'file'),
};

const RIPGREP: Kind = {
  ...without(SHOWS, 'z', 'pre', 'pre-glob', 'search-zip', 'hostname-bin'),
  isWide: (part) =>
    operandsOf(part)[0]?.glob === true ||
    hasOption(part, 'u.L', 'unrestricted', 'hidden', 'follow') ||
    argumentsOf(part).some(({ text }) => /^--(?:no-ignore|ignore-file|glob|iglob)|^-g/.test(text)),
  paths: afterScript('ef', 'regexp', 'file', 'files'),
};

const FIND: Kind = {
  proves: (part) =>
    isStatic(part) &&
    // No action of find ends like the name of a file: `-name *.ts`.
    part.words.every((word) => isNoOption(word) || /\.\w+$/.test(word.text)) &&
    !argumentsOf(part).some(({ text }) =>
      /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/.test(text),
    ),
};

const SED: Kind = {
  ...SHOWS,
  proves: (part) => isStatic(part) && hasNoPattern(part) && isHarmlessSed(part),
  paths: (part) => operandsOf(part).slice(hasOption(part, 'e', 'expression') ? 0 : 1),
};

const AWK: Kind = {
  ...SHOWS,
  proves: (part) => isStatic(part) && hasNoPattern(part) && isHarmlessAwk(part),
  paths: (part) => operandsOf(part).filter((_, index) => index > 0),
};

const JQ: Kind = {
  ...SHOWS,
  proves: (part) =>
    isStatic(part) &&
    hasNoPattern(part) &&
    !mayHaveOption(part, 'fL', 'from-file') &&
    // Which operand is the script depends on the options before it.
    !argumentsOf(part).some(({ text }) => /\b(?:import|include|env|ENV)\b/.test(text)),
  paths: afterScript('', 'args'),
};

const isFolderDiff = (part: ShellPart) =>
  mayHaveOption(part, 'rNP', 'recursive', 'new-file', 'unidirectional-new-file') ||
  operandsOf(part).some(({ text }) => /(?:^|\/)\.{0,2}$/.test(text));
/** Git then shows what it does not keep, and that is where secrets are. */
const BEYOND_GIT = /^--(?:no-in|no-exc|untr)/;

const named = (names: string, kind: Kind) => names.split(' ').map((name) => [name, kind] as const);

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...named('echo true false : pwd seq sleep exit return break continue', SPEAKS),
  ['wait', { ...SPEAKS, proves: (part) => isFixed(part) && !mayHaveOption(part, 'p') }],
  ...named('whoami id groups uname nproc arch uptime tty locale', SPEAKS),
  ...named('test [', { ...SPEAKS, proves: testsNoVariable }),
  ['printf', { ...SPEAKS, proves: printsOnly }],
  ...named('which type whereis basename dirname', SPEAKS),
  ...named(
    'ls dir stat du df realpath readlink wc cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum',
    LISTS,
  ),
  ...named(
    'cat head tail nl tac rev fold fmt od hexdump strings cut paste expand unexpand cmp comm join column',
    SHOWS,
  ),
  ...named('base64 base32', without(SHOWS, 'o', 'output')),
  ...named('tr', { ...SHOWS, paths: nothing }),
  [
    'diff',
    // Of two folders it shows whatever they hold.
    { ...SHOWS, isWide: (part) => isFolderDiff(part) },
  ],
  ...named('grep egrep fgrep', GREP),
  ['rg', RIPGREP],
  ['find', FIND],
  ['sed', SED],
  ...named('awk gawk mawk', AWK),
  ['jq', JQ],
  // With `-R` it writes a page into each folder.
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
      ...SPEAKS,
      proves: (part) =>
        isFixed(part) &&
        !mayHaveOption(part, 'sfr', 'set', 'file', 'reference') &&
        operandsOf(part).every(
          ({ text }) => /^\+|^[\w ,:+-]+$/.test(text) && !/^\d{8,}/.test(text),
        ),
    },
  ],
  ['hostname', { ...SPEAKS, proves: (part) => part.words.length === 1 }],
  ['set', { ...SPEAKS, proves: setsPlainly }],
  ['command', { ...SPEAKS, proves: (part) => /^-[vV]$/.test(part.words[1]?.text ?? '') }],
  ...named('cd pushd', {
    proves: (part) => isStatic(part) && !part.words.some(({ glob }) => glob),
    paths: movesTo,
  }),
  [
    'git',
    {
      ...SHOWS,
      proves: readsWithGit,
      isWide: (part) => argumentsOf(part).some(({ text }) => BEYOND_GIT.test(text)),
    },
  ],
  ...named('node python python3 ruby rustc cargo java gcc make cmake', {
    ...SPEAKS,
    proves: (part) =>
      part.words.length === 2 &&
      /^(?:--version|-v|-V)$/.test(part.words[1]?.text ?? '') &&
      !(part.words[0]?.text === 'python' && part.words[1]?.text === '-v'),
  }),
]);

function movesTo(part: ShellPart): readonly ShellWord[] {
  const operands = argumentsOf(part).filter(
    ({ text }) => text === '-' || !/^-[LPe@n-]+$/.test(text),
  );
  // Without a word `cd` goes home, and with `-` to where it was.
  return operands.length === 1 && operands[0]?.text !== '-'
    ? operands
    : [{ text: '/', dynamic: true, splits: false, glob: false }];
}
