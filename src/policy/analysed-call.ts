/**
 * A call with the paths that it touches, as the pipeline judges it.
 *
 * A file tool touches one path. A shell command certainly touches its redirection targets, and possibly any
 * path that its words name. The possible paths are a guess: they can make a ruling stricter, never looser.
 */
import type { HookOpinion, PermissionRequest } from '../protocol/permission/ruling.js';
import type { SafetyFinding } from '../protocol/tools/tool.js';
import { targetPaths, wordPaths } from './paths/resolved-paths.js';
import { runsCommand, touchesFile } from './rules/rule-subject.js';
import {
  isReadOnlyCommand,
  isReadOnlyPart,
  isSink,
  wordsRead,
} from './shell/judgement/is-read-only-command.js';
import { sensitiveGlobMatches } from './shell/judgement/sensitive-glob-matches.js';
import { shellFinding } from './shell/judgement/shell-finding.js';
import { readShell } from './shell/reading/read-shell.js';
import { changesDir } from './shell/shell-cwd.js';
import type { ShellEnvironment, ShellPart, ShellReading } from './shell/shell-part.js';
import { type ShellWord, UNKNOWN } from './shell/shell-word.js';

export interface AnalysedCall {
  /** For a command line, `readOnly` is true only if the analysis proves it. */
  readonly request: PermissionRequest;
  /** The graver of the tool's own finding and the shell analysis. */
  readonly finding?: SafetyFinding | undefined;
  /** Merged decision of the PreToolUse hooks. */
  readonly hook?: HookOpinion | undefined;
  /** Paths that are certainly touched: as written and, if different, with links followed. */
  readonly paths: readonly string[];
  /** Paths that a shell command may touch: the same pair for each word that may be a path. */
  readonly namedPaths: readonly (readonly string[])[];
  /** True if the command changes the working directory, so that a second run could differ. */
  readonly changesDirectory?: boolean;
  readonly command?: readonly AnalysedCommand[] | undefined;
  /** Parts with the values that the command line gives to variables. Deny and ask rules match them too. */
  readonly rebuilt?: readonly ShellPart[] | undefined;
}

/** One program of a command line, with the paths that it reads and is redirected to. */
export interface AnalysedCommand {
  readonly part: ShellPart;
  /** Paths that the program reads. Undefined unless it is proven that the program only reads. */
  readonly readPaths: readonly string[] | undefined;
  /** Targets of its redirections. `paths` is undefined if the target is unknown. */
  readonly redirects: readonly {
    readonly writes: boolean;
    readonly paths: readonly string[] | undefined;
  }[];
}

export const analyseCall = (
  request: PermissionRequest,
  { finding, hook }: Pick<AnalysedCall, 'finding' | 'hook'>,
  environment: ShellEnvironment,
): AnalysedCall => {
  if (!runsCommand(request)) {
    const { cwd, subject } = request;
    const paths = touchesFile(request) ? targetPaths(subject.target, cwd, environment) : [];
    return { request, finding, hook, paths, namedPaths: [] };
  }
  const { target, lasts = false } = request.subject;
  const reading = readShell(target, request.cwd, environment);
  const command = reading.parts.map((part) => analysePart(part, environment));
  return {
    request: { ...request, readOnly: !lasts && isReadOnlyCommand(reading, environment) },
    finding: gravest(finding, shellFinding(reading, environment)),
    hook,
    paths: command.flatMap(({ redirects }) => redirects.flatMap(({ paths }) => paths ?? [])),
    namedPaths: namedPathsOf(reading, environment),
    changesDirectory: reading.parts.some(({ words }) => changesDir(words)),
    command,
    rebuilt: reading.rebuilt,
  };
};

const analysePart = (part: ShellPart, environment: ShellEnvironment): AnalysedCommand => {
  const words = isReadOnlyPart(part, environment) ? wordsRead(part) : undefined;
  const reads = words?.map((word) => pathsIn(word, part, environment));
  return {
    part,
    readPaths: reads?.every((paths) => paths !== undefined) === true ? reads.flat() : undefined,
    redirects: part.redirects.map(({ target, writes }) => ({
      writes,
      paths: target.glob ? undefined : pathsIn(target, part, environment),
    })),
  };
};

/** Returns the paths of a word, from each directory that the command may run in. Undefined if unknown. */
const pathsIn = (
  { text, dynamic }: ShellWord,
  { dirs, areDirsIncomplete }: ShellPart,
  environment: ShellEnvironment,
): readonly string[] | undefined => {
  if (dynamic || (areDirsIncomplete && !text.startsWith('/'))) return undefined;
  // A `~` that is left was quoted and is part of a name; an unquoted `~` is resolved already.
  const word = text.startsWith('~') ? `./${text}` : text;
  const from = text.startsWith('/') ? ['/'] : dirs;
  return from.flatMap((dir) => wordPaths(word, dir, environment)).filter((path) => !isSink(path));
};

const gravest = (
  a: SafetyFinding | undefined,
  b: SafetyFinding | undefined,
): SafetyFinding | undefined => {
  const weight = (finding: SafetyFinding | undefined) =>
    finding === undefined
      ? 0
      : finding.behavior === 'deny'
        ? 4
        : finding.mild === true
          ? 1
          : finding.doubt === true
            ? 2
            : 3;
  return weight(a) >= weight(b) ? a : b;
};

/** Returns the paths of every word that may be a path, from each directory that the command may run in. */
const namedPathsOf = (
  { parts, rebuilt }: ShellReading,
  environment: ShellEnvironment,
): readonly (readonly string[])[] => {
  const named = new Map<string, readonly string[]>();
  for (const { words, redirects, dirs, assigned } of [...parts, ...rebuilt]) {
    const targets = redirects.map(({ target }) => target);
    const all = [...words, ...targets, ...assigned.map(({ value }) => value)];
    for (const text of new Set(
      all.flatMap((word) => [...pathsInWord(word), ...sensitiveGlobMatches(word)]),
    )) {
      for (const dir of text.startsWith('/') ? ['/'] : dirs) {
        const key = `${dir}\0${text}`;
        if (named.size < MAX_NAMED_PATHS && !named.has(key))
          named.set(key, wordPaths(text, dir, environment));
      }
    }
  }
  return [...named.values()];
};

const MAX_NAMED_PATHS = 10_000;

/** Returns all parts of a word that may be paths, as in `--file=/etc/passwd`, `-I../x`, `HEAD:notes` or a script. */
const pathsInWord = ({ text }: ShellWord): readonly string[] => {
  const knownText = text.split(UNKNOWN)[0] ?? '';
  const parts = new Set<string>();
  for (const part of knownText.split(/[\s=]+/)) {
    if (part === '') continue;
    if (!part.startsWith('-'))
      for (const piece of [part, ...part.split(/[:,;()'"<>]/)]) parts.add(piece);
    const inner = part.search(/\/|~|\./);
    if (part.startsWith('-') && inner > 0) parts.add(part.slice(inner));
  }
  parts.delete('');
  return [...parts];
};
