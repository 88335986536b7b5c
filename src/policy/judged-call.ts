/**
 * One call as the pipeline judges it: the request, and the places on disk that it touches.
 *
 * A file tool touches one place. A shell command touches whatever its words may name: that is a
 * guess, used only to refuse what is forbidden and to be slow with what is free.
 */
import type { HookOpinion, PermissionRequest } from '../protocol/permission.js';
import type { SafetyFinding } from '../protocol/tool.js';
import { readCommand } from './command-words.js';
import { type PathWorld, placesOfTarget, placesOfWord } from './path-policy.js';
import { isMcpTool } from './rule-grammar.js';

export interface JudgedCall {
  readonly request: PermissionRequest;
  /** The tool's own safety check. */
  readonly finding?: SafetyFinding | undefined;
  /** What PreToolUse hooks said. */
  readonly hook?: HookOpinion | undefined;
  /** What a file tool touches: the path as written and, when it differs, where it leads. */
  readonly places: readonly string[];
  /** The same for each word of a shell command that may be a path. */
  readonly named: readonly (readonly string[])[];
}

export const judgedCall = (
  request: PermissionRequest,
  { finding, hook }: Pick<JudgedCall, 'finding' | 'hook'>,
  world: PathWorld,
): JudgedCall => {
  const { cwd, subject } = request;
  return {
    ...{ request, finding, hook },
    places: touchesFile(request) ? placesOfTarget(subject.target, cwd, world) : [],
    named: runsCommand(request)
      ? pathWords(subject.target).map((word) => placesOfWord(word, cwd, world))
      : [],
  };
};

/** A built-in tool that reads or writes one path. What a server says of its own tool is no path. */
export const touchesFile = ({ tool, subject }: PermissionRequest): boolean =>
  !isMcpTool(tool) && (subject.action === 'read' || subject.action === 'write');

export const runsCommand = ({ tool, subject }: PermissionRequest): boolean =>
  !isMcpTool(tool) && subject.action === 'execute';

/** `--file=/etc/passwd`, `-I../x` and `cat notes` all name a place; a quoted script names several. */
const pathWords = (command: string): readonly string[] => {
  const paths = new Set<string>();
  for (const word of readCommand(command).words) {
    for (const part of word.split(/[\s=]+/)) {
      if (part === '') continue;
      if (!part.startsWith('-')) paths.add(part);
      const inner = part.search(/\/|~|\.\./);
      if (part.startsWith('-') && inner > 0) paths.add(part.slice(inner));
    }
  }
  return [...paths];
};
