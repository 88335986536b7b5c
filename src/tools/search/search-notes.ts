/** Search notes and other helpers of the search tools. */
import { isAbsolute, relative } from 'node:path';
import {
  MAX_SEARCHED_FILE_BYTES,
  type SearchEnd,
  SearchError,
} from '../../protocol/tools/file-search.js';
import { type ToolContext, ToolFailure } from '../../protocol/tools/tool.js';
import { explainFileError, locateFile } from '../file-access/locate-file.js';
import { printableLine } from '../text/printable-line.js';

export const SEARCH_TIMEOUT_MS = 20_000;

export const searchRoot = (path: string | undefined, context: ToolContext): string =>
  locateFile(path ?? '.', context);

/** Awaits a search. Rejects with ToolFailure in place of SearchError and FileError. */
export const explainSearchError = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await explainFileError(work);
  } catch (error) {
    if (error instanceof SearchError) throw new ToolFailure(error.message, { cause: error });
    throw error;
  }
};

/** Returns a path below the working directory as a relative path, others unchanged, on one line. */
export const displayPath = (path: string, cwd: string): string => {
  const below = relative(cwd, path);
  const isBelow = below !== '' && below !== '..' && !below.startsWith('../') && !isAbsolute(below);
  return printableLine(isBelow ? below : path);
};

/** Returns sentences about the parts that the result does not show. */
export const searchNotes = (end: SearchEnd): readonly string[] => [
  ...noteIf(end.leftOut > 0, protectedFilesNote(end.leftOut, end.mayHaveLeftOutMore)),
  ...noteIf(
    end.unreadable > 0,
    `${count(end.unreadable, 'file or directory', 'files or directories')} could not be opened.`,
  ),
  ...noteIf(
    end.tooLarge > 0,
    `${count(end.tooLarge, 'file')} of more than ${MAX_SEARCHED_FILE_BYTES} bytes not searched; use grep in Bash.`,
  ),
  ...noteIf(
    end.tooSlow > 0,
    `${count(end.tooSlow, 'file')} skipped because the pattern takes too long on it. Use a simpler pattern, without repetitions inside of repetitions.`,
  ),
  ...noteIf(end.reason === 'timeout', `${STOPPED} after ${SEARCH_TIMEOUT_MS} ms. ${NARROW}`),
  ...noteIf(end.reason === 'entries', `${STOPPED} because the tree is too large. ${NARROW}`),
  ...noteIf(end.reason === 'aborted', 'Interrupted before the search ended.'),
];

export const protectedFilesNote = (files: number, isLeast = false) =>
  `${isLeast ? 'At least ' : ''}${count(files, 'file')} left out: rules protect such files, and Read would ask first.`;

const STOPPED = 'The search was stopped';
const NARROW = 'Narrow it with path, glob or type.';

const noteIf = (isTrue: boolean, sentence: string): readonly string[] => (isTrue ? [sentence] : []);

const count = (number: number, singular: string, plural = `${singular}s`) =>
  `${number} ${number === 1 ? singular : plural}`;

export const withNotes = (text: string, notes: readonly string[]): string =>
  notes.length === 0 ? text : `${text}\n\n${notes.map((note) => `[${note}]`).join('\n')}`;
