/** Redirections of a command: the files, and what it reads where the command line itself says so. */
import type { HereDoc, HereString, Redirection } from 'unbash';
import type { Dirs } from './shell-cwd.js';
import type { ShellPart, ShellRedirect } from './shell-part.js';
import { type KnownValues, readWord, UNKNOWN } from './shell-words.js';

/** Those that lead to files: `2>&1` leads nowhere. */
export const readRedirects = (
  list: readonly Redirection[],
  known: KnownValues,
): readonly ShellRedirect[] => {
  const found: ShellRedirect[] = [];
  for (const it of list) {
    if (it.type !== 'Redirect' || it.target === undefined) continue;
    const target = readWord(it.target, known);
    const copies = it.operator === '>&' || it.operator === '<&';
    if (copies && /^(?:\d+-?|-)$/.test(target.text)) continue;
    found.push({ target, writes: !it.operator.startsWith('<') || it.operator === '<>' });
  }
  return found;
};

export interface Stdin {
  /** The text, with UNKNOWN in it for what only the shell knows; undefined for a file. */
  readonly text: string | undefined;
}

/** What surrounds a command: where it runs, what runs it, and what it reads. */
export interface Context {
  readonly dirs: Dirs;
  readonly within: readonly string[];
  readonly depth: number;
  readonly fedBy: readonly ShellPart[];
  readonly stdin: Stdin | undefined;
}

/** The last redirection of standard input, if there is one. */
export const readStdin = (
  redirects: readonly Redirection[],
  known: KnownValues,
): Stdin | undefined => {
  const last = redirects.findLast(isInput);
  if (last === undefined) return undefined;
  if (last.type === 'HereDoc') return { text: bodyOf(last) };
  if (last.type === 'HereString') return { text: textOf(last, known) };
  return { text: undefined };
};

const isInput = ({ type, operator, descriptor }: Redirection) => {
  const isFirst =
    descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 0);
  return isFirst && (type !== 'Redirect' || operator.startsWith('<'));
};

/** Expansions in a here-document whose end mark is not quoted happen before it is read. */
const bodyOf = ({ body, delimiter }: HereDoc): string => {
  if (delimiter?.quoted === true || body.parts === undefined) return body.text;
  const isPlain = body.parts.every(({ type }) => type === 'Literal');
  return isPlain ? body.text.replaceAll(/\\([\\$`])/g, '$1') : UNKNOWN;
};

const textOf = ({ target }: HereString, known: KnownValues): string =>
  target === undefined ? '' : readWord(target, known).text;
