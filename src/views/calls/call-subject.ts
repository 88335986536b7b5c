/** Subject of a call: the files, command or address of its input. Finds texts that mention it. */
import { isAbsolute, relative, resolve } from 'node:path';

export interface CallSubject {
  /** Absolute paths. */
  readonly files: readonly string[];
  readonly command?: string;
  readonly address?: string;
}

const PATH_KEYS = ['file_path', 'notebook_path', 'path'];
const MAX_WORDS = 10;
/** Shorter texts occur almost everywhere. */
const MIN_NEEDLE_LENGTH = 4;
const MAX_SUBJECT_LENGTH = 400;

export const callSubject = (input: unknown, cwd: string): CallSubject => {
  const given = typeof input === 'object' && input !== null ? { ...input } : {};
  const text = (key: string): string | undefined => {
    const value = (given as Readonly<Record<string, unknown>>)[key];
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  };
  const command = text('command');
  const address = text('url');
  return {
    files: PATH_KEYS.flatMap((key) => text(key) ?? []).map((path) => resolve(cwd, path)),
    ...(command !== undefined && { command: command.slice(0, MAX_SUBJECT_LENGTH) }),
    ...(address !== undefined && { address: address.slice(0, MAX_SUBJECT_LENGTH) }),
  };
};

/** Returns the subject as a short text for lists. */
export const subjectText = ({ files, command, address }: CallSubject, cwd: string): string =>
  command ?? address ?? files.map((file) => nearName(file, cwd)).join(', ');

/** Returns texts that identify the subject in an output, most specific first. */
export const needlesOf = (subject: CallSubject, cwd: string): readonly string[] => {
  const { files, command, address } = subject;
  const words = command?.match(/[\w@~.-]*[/.][\w@~./-]+/g) ?? [];
  const host = address !== undefined && URL.canParse(address) ? new URL(address).hostname : '';
  const all = [
    ...files.flatMap((file) => [file, nearName(file, cwd)]),
    ...(command === undefined || command.includes('\n') ? [] : [command]),
    ...words.slice(0, MAX_WORDS).map((word) => word.replace(/^\.\//, '')),
    ...(address === undefined ? [] : [address, host]),
  ];
  return [...new Set(all)].filter((needle) => needle.length >= MIN_NEEDLE_LENGTH);
};

/** Returns the first line with one of the needles as a whole word. Line numbers start at 1. */
export const mentionIn = (
  text: string,
  needles: readonly string[],
): { readonly line: number; readonly text: string } | undefined => {
  for (const needle of needles) {
    const at = wordAt(text, needle);
    if (at < 0) continue;
    const start = text.lastIndexOf('\n', at - 1) + 1;
    const end = text.indexOf('\n', at);
    const line = text.slice(start, end < 0 ? undefined : end);
    return { line: text.slice(0, at).split('\n').length, text: line };
  }
  return undefined;
};

export const isSameSubject = (one: CallSubject, other: CallSubject): boolean =>
  one.files.some((file) => other.files.includes(file)) ||
  (one.command !== undefined && one.command === other.command) ||
  (one.address !== undefined && one.address === other.address);

const wordAt = (text: string, needle: string): number => {
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
    const isOwn = !/[\w.-]/.test(text[at - 1] ?? '') && !/\w/.test(text[at + needle.length] ?? '');
    if (isOwn) return at;
  }
  return -1;
};

const nearName = (file: string, cwd: string): string => {
  const near = relative(cwd, file);
  return near === '' || near.startsWith('..') || isAbsolute(near) ? file : near;
};
