/** What the search tools share: where to start, how paths are shown, and what must be said at the end. */
import { isAbsolute, relative } from 'node:path';
import { LARGEST_SEARCHED_FILE, type SearchEnd, SearchError } from '../../protocol/tools/search.js';
import { type ToolContext, ToolFailure } from '../../protocol/tools/tool.js';
import { locate, orExplain } from '../files/file-access.js';

export const SEARCH_TIMEOUT_MS = 20_000;

export const startOfSearch = (path: string | undefined, context: ToolContext): string =>
  locate(path ?? '.', context);

/** Lets the work pass, and turns what a search refuses into a sentence for the model. */
export const orExplainSearch = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await orExplain(work);
  } catch (error) {
    if (error instanceof SearchError) throw new ToolFailure(error.message, { cause: error });
    throw error;
  }
};

/** From the working directory where that is shorter. */
export const shownPath = (path: string, cwd: string): string => {
  const below = relative(cwd, path);
  const isBelow = below !== '' && below !== '..' && !below.startsWith('../') && !isAbsolute(below);
  return onOneLine(isBelow ? below : path);
};

/** Whatever the name holds. */
export const onOneLine = (name: string): string =>
  /\p{Cc}/u.test(name) ? JSON.stringify(name) : name;

/** Sentences about what the result does not show. */
export const searchNotes = (end: SearchEnd): readonly string[] => [
  ...when(end.leftOut > 0, leftOut(end.leftOut, end.mayHaveLeftOutMore)),
  ...when(
    end.unreadable > 0,
    `${count(end.unreadable, 'file or directory', 'files or directories')} could not be opened.`,
  ),
  ...when(
    end.tooLarge > 0,
    `${count(end.tooLarge, 'file')} of more than ${LARGEST_SEARCHED_FILE} bytes not searched; use grep in Bash.`,
  ),
  ...when(
    end.tooSlow > 0,
    `${count(end.tooSlow, 'file')} given up because the pattern takes too long on it. Use a simpler pattern, without repetitions inside of repetitions.`,
  ),
  ...when(end.reason === 'timeout', `${STOPPED} after ${SEARCH_TIMEOUT_MS} ms. ${NARROW}`),
  ...when(end.reason === 'entries', `${STOPPED} because the tree is too large. ${NARROW}`),
  ...when(end.reason === 'aborted', 'Interrupted before the search ended.'),
];

export const leftOut = (files: number, isLeast = false) =>
  `${isLeast ? 'At least ' : ''}${count(files, 'file')} left out: rules protect such files, and Read would ask first.`;

const STOPPED = 'The search was stopped';
const NARROW = 'Narrow it with path, glob or type.';

const when = (holds: boolean, sentence: string): readonly string[] => (holds ? [sentence] : []);

const count = (number: number, one: string, many = `${one}s`) =>
  `${number} ${number === 1 ? one : many}`;

export const withNotes = (text: string, notes: readonly string[]): string =>
  notes.length === 0 ? text : `${text}\n\n${notes.map((note) => `[${note}]`).join('\n')}`;
