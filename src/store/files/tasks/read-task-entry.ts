/** Reads the files of a task list. Ignores foreign files, and does not follow links. */

import fs from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../../lib/json/parse-json.js';
import {
  MAX_DESCRIPTION_LENGTH,
  MAX_METADATA_LENGTH,
  MAX_SUBJECT_LENGTH,
  MAX_TASKS,
} from '../../../protocol/session/shared-task-list.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { type TaskEntry, taskEntry } from '../../shared/task-log.js';
import { openRegularFile } from '../io/open-regular-file.js';

/** Maximum size of an entry in bytes. A character can take six bytes in JSON. */
const MAX_ENTRY_BYTES =
  6 * MAX_TASKS * (MAX_DESCRIPTION_LENGTH + MAX_METADATA_LENGTH + 2 * MAX_SUBJECT_LENGTH + 2_000);

export const taskEntryPath = (root: string, generation: number, number: number): string =>
  join(root, String(generation), `${number}.json`);

/** Returns the generations in order. Returns none if the folder is missing. */
export const listGenerations = (root: string): readonly number[] => {
  try {
    return fs
      .readdirSync(root, { withFileTypes: true })
      .flatMap((entry) =>
        entry.isDirectory() && /^[1-9]\d{0,8}$/.test(entry.name) ? [Number(entry.name)] : [],
      )
      .sort((a, b) => a - b);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};

/**
 * Returns `none` if the file is missing, and `damaged` if it is not a valid entry. Throws other
 * disk errors.
 */
export const readTaskEntry = (path: string): TaskEntry | 'damaged' | 'none' => {
  let fd: number | undefined;
  try {
    fd = openRegularFile(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    if (fs.fstatSync(fd).size > MAX_ENTRY_BYTES) return 'damaged';
    return parseEntry(fs.readFileSync(fd, 'utf8'));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'none';
    if (FOREIGN.has(code)) return 'damaged';
    // A failing disk or too many open files must not look like a damaged entry.
    throw error;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

/** Error codes for a link, a folder, a socket and a pipe. */
const FOREIGN: ReadonlySet<string> = new Set(['ELOOP', 'EISDIR', 'ENXIO', 'not a regular file']);

const parseEntry = (text: string): TaskEntry | 'damaged' =>
  taskEntry.safeParse(parseJson(text)).data ?? 'damaged';

/** Returns false if the folder exists. Throws UsageError if another file has its name. */
export const makeTaskFolder = (path: string): boolean => {
  try {
    fs.mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (fs.lstatSync(path).isDirectory()) return false;
    throw new UsageError(`${path} is in the way of the task list; move it away.`);
  }
};
