/**
 * One call as the pipeline judges it: the request, and the places on disk that it touches.
 *
 * A file tool touches one place. A shell command touches what it is redirected to, for certain, and
 * whatever its words may name: that is a guess, used only to refuse what is forbidden and to be slow
 * with what is free.
 */
import type { HookOpinion, PermissionRequest } from '../protocol/permission/permission.js';
import type { SafetyFinding } from '../protocol/tools/tool.js';
import { placesOfTarget, placesOfWord } from './paths/path-policy.js';
import { isMcpTool } from './rules/rule-grammar.js';
import { sensitiveGlobMatches } from './shell/judgement/glob-candidates.js';
import { shellFinding } from './shell/judgement/shell-finding.js';
import { isReadOnly, isReadOnlyPart, isSink, readsFrom } from './shell/judgement/shell-readonly.js';
import { isMove } from './shell/shell-cwd.js';
import type { ShellPart, ShellReading, ShellWorld } from './shell/shell-part.js';
import { readShell } from './shell/shell-reading.js';
import { type ShellWord, UNKNOWN } from './shell/shell-words.js';

export interface AnalysedCall {
  /** Of a command line it says `readOnly` when that is proven. */
  readonly request: PermissionRequest;
  /** The tool's own safety check, or that of the shell. */
  readonly finding?: SafetyFinding | undefined;
  /** What PreToolUse hooks said. */
  readonly hook?: HookOpinion | undefined;
  /** What is touched for certain: the path as written and, when it differs, where it leads. */
  readonly places: readonly string[];
  /** The same for each word of a shell command that may be a path. */
  readonly named: readonly (readonly string[])[];
  /** The command leaves the agent in another directory, so it is not to be repeated. */
  readonly moves?: boolean;
  /** The parts of a shell command. */
  readonly command?: readonly AnalysedCommand[] | undefined;
}

/** One program of a command line. */
export interface AnalysedCommand {
  readonly part: ShellPart;
  /** The places it reads, when it is proven to do nothing else; undefined when it is not. */
  readonly reads: readonly string[] | undefined;
  /** Where its redirections lead; a place that is not known is undefined. */
  readonly redirects: readonly {
    readonly writes: boolean;
    readonly places: readonly string[] | undefined;
  }[];
}

export const judgedCall = (
  request: PermissionRequest,
  { finding, hook }: Pick<AnalysedCall, 'finding' | 'hook'>,
  world: ShellWorld,
): AnalysedCall => {
  if (!runsCommand(request)) {
    const { cwd, subject } = request;
    const places = touchesFile(request) ? placesOfTarget(subject.target, cwd, world) : [];
    return { request, finding, hook, places, named: [] };
  }
  const { target, lasts = false } = request.subject;
  const reading = readShell(target, request.cwd, world);
  const command = reading.parts.map((part) => judgedPart(part, world));
  return {
    request: { ...request, readOnly: !lasts && isReadOnly(reading, world) },
    finding: gravest(finding, shellFinding(reading, world)),
    hook,
    places: command.flatMap(({ redirects }) => redirects.flatMap(({ places }) => places ?? [])),
    named: namedBy(reading, world),
    moves: reading.parts.some(({ words }) => isMove(words)),
    command,
  };
};

/** A built-in tool that reads or writes one path. What a server says of its own tool is no path. */
export const touchesFile = ({ tool, subject }: PermissionRequest): boolean =>
  !isMcpTool(tool) && (subject.action === 'read' || subject.action === 'write');

export const runsCommand = ({ tool, subject }: PermissionRequest): boolean =>
  !isMcpTool(tool) && subject.action === 'execute';

const judgedPart = (part: ShellPart, world: ShellWorld): AnalysedCommand => {
  const words = isReadOnlyPart(part, world) ? readsFrom(part) : undefined;
  const reads = words?.map((word) => placesIn(word, part, world));
  return {
    part,
    reads: reads?.every((it) => it !== undefined) === true ? reads.flat() : undefined,
    redirects: part.redirects.map(({ target, writes }) => ({
      writes,
      places: target.glob ? undefined : placesIn(target, part, world),
    })),
  };
};

/** Where a word leads from each directory it may start from; undefined when that cannot be known. */
const placesIn = (
  { text, dynamic }: ShellWord,
  { dirs, isLost }: ShellPart,
  world: ShellWorld,
): readonly string[] | undefined => {
  if (dynamic || (isLost && !text.startsWith('/'))) return undefined;
  // A quoted `~` is a name like any other; the unquoted one has been resolved.
  const word = text.startsWith('~') ? `./${text}` : text;
  const from = text.startsWith('/') ? ['/'] : dirs;
  return from.flatMap((dir) => placesOfWord(word, dir, world)).filter((place) => !isSink(place));
};

const gravest = (
  one: SafetyFinding | undefined,
  other: SafetyFinding | undefined,
): SafetyFinding | undefined => {
  const weight = (it: SafetyFinding | undefined) =>
    it === undefined ? 0 : it.behavior === 'deny' ? 3 : it.mild === true ? 1 : 2;
  return weight(one) >= weight(other) ? one : other;
};

/** Every word that may be a path, from every directory it may start from, links followed. */
const namedBy = ({ parts }: ShellReading, world: ShellWorld): readonly (readonly string[])[] => {
  const named = new Map<string, readonly string[]>();
  for (const { words, redirects, dirs, assigned } of parts) {
    const targets = redirects.map(({ target }) => target);
    const all = [...words, ...targets, ...assigned.map(({ value }) => value)];
    for (const text of new Set(
      all.flatMap((word) => [...pathsInWord(word), ...sensitiveGlobMatches(word)]),
    )) {
      for (const dir of text.startsWith('/') ? ['/'] : dirs) {
        const key = `${dir}\0${text}`;
        if (named.size < MOST_NAMES && !named.has(key))
          named.set(key, placesOfWord(text, dir, world));
      }
    }
  }
  return [...named.values()];
};

const MOST_NAMES = 10_000;

/** `--file=/etc/passwd`, `-I../x` and `HEAD:notes` all name a place; a quoted script names several. */
const pathsInWord = ({ text }: ShellWord): readonly string[] => {
  const known = text.split(UNKNOWN)[0] ?? '';
  const parts = new Set<string>();
  for (const part of known.split(/[\s=]+/)) {
    if (part === '') continue;
    if (!part.startsWith('-')) for (const it of [part, ...part.split(/[:,;()'"<>]/)]) parts.add(it);
    const inner = part.search(/\/|~|\./);
    if (part.startsWith('-') && inner > 0) parts.add(part.slice(inner));
  }
  parts.delete('');
  return [...parts];
};
