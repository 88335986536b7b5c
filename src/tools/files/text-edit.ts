/** What Edit and MultiEdit share: the rules under which a passage of a text is replaced. */
import { z } from 'zod';
import {
  type FileStamp,
  type ToolContext,
  ToolFailure,
  type ToolNote,
} from '../../protocol/tools/tool.js';
import { changedSinceRead, locate, orExplain } from './file-access.js';
import { decodeText, encodeText } from './file-text.js';
import { fillPassages, findPassages, type Passage, toUnix } from './line-endings.js';
import { countLines, linePage } from './line-numbers.js';

export const LARGEST_EDITED_FILE = 16 * 1024 * 1024;
const MOST_PASSAGES = 100_000;
const CONTEXT_LINES = 3;
const MAX_SNIPPET = 4_000;

export const EDIT_FIELDS = {
  old_string: z.string().describe('Passage to replace.'),
  new_string: z.string().describe('What takes its place; empty deletes it.'),
  replace_all: z.boolean().optional().describe('Replace every occurrence.'),
};

export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** A text file that the agent has read, as it still is. */
export interface OpenedText {
  readonly path: string;
  readonly text: string;
  readonly hasBom: boolean;
  readonly stamp: FileStamp;
}

export const openForEdit = async (file_path: string, context: ToolContext): Promise<OpenedText> => {
  const path = locate(file_path, context);
  const file = await orExplain(context.workspace.read(path, LARGEST_EDITED_FILE));
  const seen = context.readStamp(path);
  if (seen === undefined) throw new ToolFailure(`You have not read ${path}. Read it first.`);
  if (seen.digest !== file.stamp.digest) throw new ToolFailure(changedSinceRead(path));
  return { path, stamp: file.stamp, ...decodeText(path, file.bytes) };
};

/** Writes only over what was opened. `field` names the input that the text came from. */
export const saveEdit = async (
  { path, stamp, hasBom }: OpenedText,
  text: string,
  field: string,
  { workspace }: ToolContext,
): Promise<{ readonly stamp: FileStamp; readonly notes: readonly ToolNote[] }> => {
  const bytes = encodeText(text, field, hasBom);
  const written = await orExplain(workspace.write(path, bytes, stamp));
  return { stamp: written, notes: [{ type: 'file.seen', path, stamp: written }] };
};

export interface AppliedEdit {
  readonly text: string;
  readonly passages: readonly Passage[];
}

export const applyEdit = (path: string, text: string, edit: TextEdit): AppliedEdit => {
  const { old_string, new_string, replace_all = false } = edit;
  refuseNonsense(old_string, new_string);
  const passages = choosePassages(path, text, old_string, replace_all);
  if (text.length + passages.length * new_string.length > 2 * LARGEST_EDITED_FILE) {
    throw new ToolFailure(`${path} would become too large to be edited. Use sed in Bash.`);
  }
  return { text: fillPassages(text, passages, new_string), passages };
};

const refuseNonsense = (before: string, after: string) => {
  if (before === '') {
    throw new ToolFailure(
      'old_string is empty. Give the passage to replace, or use Write to create a file.',
    );
  }
  if (toUnix(before) === toUnix(after)) {
    throw new ToolFailure('old_string and new_string are the same, so there is nothing to change.');
  }
};

const choosePassages = (path: string, text: string, wanted: string, all: boolean) => {
  const passages = findPassages(text, wanted, { overlapping: !all, atMost: MOST_PASSAGES + 1 });
  const count = passages.length;
  if (count === 0) {
    throw new ToolFailure(
      `old_string is not in ${path}. Read it again and copy the passage exactly.`,
    );
  }
  if (count > MOST_PASSAGES) {
    throw new ToolFailure(
      `old_string occurs more than ${MOST_PASSAGES} times in ${path}. Use sed in Bash.`,
    );
  }
  if (count > 1 && !all) {
    throw new ToolFailure(
      `old_string occurs ${count} times in ${path}. Add lines around it until it is unique, or set replace_all.`,
    );
  }
  return passages;
};

/** Lines `first` to `last` of the text with a few around them, numbered as Read would. */
export const snippet = (text: string, first: number, last: number): string => {
  const from = Math.max(1, first - CONTEXT_LINES);
  const limit = last - from + 1 + CONTEXT_LINES;
  const page = linePage(text, { first: from, limit, maxCharacters: MAX_SNIPPET });
  return page.text === '' ? '' : ` It now reads:\n${page.text}`;
};

export const lineNumberAt = (text: string, position: number): number =>
  countLines(text.slice(0, position)) + (text[position - 1] === '\n' || position === 0 ? 1 : 0);
