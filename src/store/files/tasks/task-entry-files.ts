/** The files that a list of work is made of. Whatever else lies there is passed over, and links are not followed. */
import fs from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../../protocol/errors.js';
import {
  LONGEST_DESCRIPTION,
  LONGEST_METADATA,
  LONGEST_SUBJECT,
  MAX_TASKS,
} from '../../../protocol/session/task-list.js';
import { type TaskEntry, taskEntry } from '../../shared/task-log.js';
import { openRegular } from '../io/regular-file.js';

/** A whole list is never longer, in bytes: a character of JSON may take six, and there are keys. */
const LONGEST_ENTRY =
  6 * MAX_TASKS * (LONGEST_DESCRIPTION + LONGEST_METADATA + 2 * LONGEST_SUBJECT + 2_000);

export const entryPath = (root: string, generation: number, number: number): string =>
  join(root, String(generation), `${number}.json`);

/** In their order. */
export const generationsIn = (root: string): readonly number[] => {
  try {
    return fs
      .readdirSync(root, { withFileTypes: true })
      .flatMap((it) =>
        it.isDirectory() && /^[1-9]\d{0,8}$/.test(it.name) ? [Number(it.name)] : [],
      )
      .sort((a, b) => a - b);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};

/** `none`: there is no such file. `damaged`: what is there is no entry of ours, and counts for nothing. */
export const readEntry = (path: string): TaskEntry | 'damaged' | 'none' => {
  let fd: number | undefined;
  try {
    fd = openRegular(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    if (fs.fstatSync(fd).size > LONGEST_ENTRY) return 'damaged';
    return parsed(fs.readFileSync(fd, 'utf8'));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'none';
    if (FOREIGN.has(code)) return 'damaged';
    // A disk that fails, or too many open files, must not look like a change that counts for nothing.
    throw error;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

/** A link, a folder, a socket, a pipe. */
const FOREIGN: ReadonlySet<string> = new Set(['ELOOP', 'EISDIR', 'ENXIO', 'not a regular file']);

const parsed = (text: string): TaskEntry | 'damaged' => {
  try {
    return taskEntry.safeParse(JSON.parse(text)).data ?? 'damaged';
  } catch {
    return 'damaged';
  }
};

/** False when it was there. Throws a UsageError when something else is in its place. */
export const makeFolder = (path: string): boolean => {
  try {
    fs.mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (fs.lstatSync(path).isDirectory()) return false;
    throw new UsageError(`${path} is in the way of the list of work; move it away.`);
  }
};
