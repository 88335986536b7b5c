/** Reads the redirections of a command: its files, and standard input from the command line. */
import type { HereDoc, Redirection, Word } from 'unbash';
import type { PossibleDirs } from './shell-cwd.js';
import type { ShellPart, ShellRedirect } from './shell-part.js';
import { type ShellWord, UNKNOWN } from './shell-word.js';
import type { KnownText } from './values/shell-values.js';

/** Reads a word with the variables that are known at its place. */
type ReadWord = (word: Word) => ShellWord;

/** Returns the redirections to and from files. Skips copies of descriptors such as `2>&1`. */
export const readRedirects = (
  list: readonly Redirection[],
  read: ReadWord,
): readonly ShellRedirect[] => {
  const found: ShellRedirect[] = [];
  for (const redirect of list) {
    if (redirect.type !== 'Redirect' || redirect.target === undefined) continue;
    const { operator } = redirect;
    const target = read(redirect.target);
    const copies = operator === '>&' || operator === '<&';
    if (copies && /^(?:\d+-?|-)$/.test(target.text)) continue;
    found.push({ target, writes: !operator.startsWith('<') || operator === '<>' });
  }
  return found;
};

export interface ShellStdin {
  /** Text of a here-document or here-string, with UNKNOWN for expansions. Undefined for a file. */
  readonly text: string | undefined;
}

/** Surroundings of a command: directories, wrappers, nesting depth and input. */
export interface CommandContext {
  readonly dirs: PossibleDirs;
  readonly wrappers: readonly string[];
  readonly depth: number;
  readonly pipedFrom: readonly ShellPart[];
  readonly stdin: ShellStdin | undefined;
  /** Text of standard input, where the command line itself tells it. */
  readonly printed?: KnownText | undefined;
}

/** Returns the last redirection of standard input. Returns undefined if there is none. */
export const readStdin = (
  redirects: readonly Redirection[],
  read: ReadWord,
): ShellStdin | undefined => {
  const last = redirects.findLast(isInput);
  if (last === undefined) return undefined;
  if (last.type === 'HereDoc') return { text: bodyOf(last) };
  if (last.type === 'HereString')
    return { text: last.target === undefined ? '' : read(last.target).text };
  const target = last.target?.text ?? '';
  if (last.operator === '<&' && /^(?:0|-)$/.test(target)) return undefined;
  // The text behind another descriptor is known only at run time.
  return { text: last.operator === '<&' || DESCRIPTOR.test(target) ? UNKNOWN : undefined };
};

const DESCRIPTOR = /^\/(?:dev\/fd|proc\/\w+\/fd)\//;

/** True if the redirection replaces standard input. */
export const isInput = ({ type, operator, descriptor }: Redirection): boolean => {
  const isFirst =
    descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 0);
  return isFirst && (type !== 'Redirect' || operator.startsWith('<'));
};

/** Returns the text of a here-document. It is expanded by the shell unless its delimiter is quoted. */
const bodyOf = ({ body, delimiter }: HereDoc): string => {
  if (delimiter?.quoted === true || body.parts === undefined) return body.text;
  const isPlain = body.parts.every(({ type }) => type === 'Literal');
  return isPlain ? body.text.replaceAll(/\\([\\$`])/g, '$1') : UNKNOWN;
};
