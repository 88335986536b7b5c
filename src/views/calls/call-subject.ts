/** Subject of a call: the files, command or address of its input. Finds texts that mention it. */
import { isAbsolute, relative, resolve } from 'node:path';

export interface CallSubject {
  /** Absolute paths. */
  readonly files: readonly string[];
  readonly command?: string;
  readonly address?: string;
}

const PATH_KEYS = ['file_path', 'notebook_path', 'path'];
const MAX_PATH_WORDS = 10;
/** Shorter texts occur almost everywhere. */
const MIN_NEEDLE_LENGTH = 4;
const MAX_SUBJECT_LENGTH = 400;

export const callSubject = (input: unknown, cwd: string): CallSubject => {
  const fields = typeof input === 'object' && input !== null ? { ...input } : {};
  const text = (key: string): string | undefined => {
    const value = (fields as Readonly<Record<string, unknown>>)[key];
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
  command ?? address ?? files.map((file) => relativeName(file, cwd)).join(', ');

/** Returns texts that identify the subject in an output, most specific first. */
export const needlesOf = (subject: CallSubject, cwd: string): readonly string[] => {
  const { files, command, address } = subject;
  const pathWords = command?.match(/[\w@~.-]*[/.][\w@~./-]+/g) ?? [];
  const host = address !== undefined && URL.canParse(address) ? new URL(address).hostname : '';
  const all = [
    ...files.flatMap((file) => [file, relativeName(file, cwd)]),
    ...(command === undefined || command.includes('\n') ? [] : [command]),
    ...pathWords.slice(0, MAX_PATH_WORDS).map((word) => word.replace(/^\.\//, '')),
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

export const isSameSubject = (a: CallSubject, b: CallSubject): boolean =>
  a.files.some((file) => b.files.includes(file)) ||
  (a.command !== undefined && a.command === b.command) ||
  (a.address !== undefined && a.address === b.address);

const wordAt = (text: string, needle: string): number => {
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
    const isOwn = !/[\w.-]/.test(text[at - 1] ?? '') && !/\w/.test(text[at + needle.length] ?? '');
    if (isOwn) return at;
  }
  return -1;
};

const relativeName = (file: string, cwd: string): string => {
  const relativePath = relative(cwd, file);
  return relativePath === '' || relativePath.startsWith('..') || isAbsolute(relativePath)
    ? file
    : relativePath;
};
